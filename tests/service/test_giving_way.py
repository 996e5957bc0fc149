"""Do background tasks and answers give way to ticks where the processors are busy?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from control_plane.giving_way import is_in_the_background

PROGRAM = """
import os, sys
from pathlib import Path
from control_plane.giving_way import give_way
give_way(10, leader=os.getpid(), autogroup=Path(sys.argv[1]))
print(os.nice(0))
"""


@pytest.mark.parametrize(
    ("queues", "expected"), [({"io"}, True), ({"control"}, False), ({"io", "control"}, False)]
)
def test_only_a_worker_without_urgent_tasks_gives_way(queues: set[str], expected: bool) -> None:  # noqa: FBT001
    assert is_in_the_background(queues) == expected


@pytest.mark.parametrize("is_own", [True, False])
def test_a_session_gives_way_if_it_is_its_own(tmp_path: Path, is_own: bool) -> None:  # noqa: FBT001
    autogroup = tmp_path / "autogroup"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(autogroup)],
        start_new_session=is_own,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == min(os.nice(0) + 10, 19)
    assert autogroup.exists() == is_own


def test_where_there_are_no_sessions_to_share_among_it_gives_way_alone(tmp_path: Path) -> None:
    nowhere = tmp_path / "none" / "autogroup"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(nowhere)],
        start_new_session=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == min(os.nice(0) + 10, 19)
