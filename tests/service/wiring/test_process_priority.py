"""Do background tasks and answers give way to ticks where the processors are busy?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from control_plane.process_priority import NICENESS_OF_TICKS

PROGRAM = """
import os, sys
from pathlib import Path
from control_plane.process_priority import give_way, go_first
leader, autogroup = os.getpid(), Path(sys.argv[1])
give_way(int(sys.argv[2]), leader=leader, autogroup=autogroup) if sys.argv[2:] else go_first(
    leader=leader, autogroup=autogroup)
print(os.nice(0))
"""


@pytest.mark.parametrize("is_own", [True, False])
def test_a_session_gives_way_if_it_is_its_own(tmp_path: Path, is_own: bool) -> None:  # noqa: FBT001
    autogroup = tmp_path / "autogroup"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(autogroup), "10"],
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
        [sys.executable, "-c", PROGRAM, str(nowhere), "10"],
        start_new_session=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == min(os.nice(0) + 10, 19)


def test_a_session_goes_first_and_what_it_starts_does_not(tmp_path: Path) -> None:
    autogroup = tmp_path / "autogroup"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(autogroup)],
        start_new_session=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert autogroup.read_text() == str(NICENESS_OF_TICKS)
    assert int(done.stdout) == os.nice(0)
