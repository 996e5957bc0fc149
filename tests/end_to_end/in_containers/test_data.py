"""Does a job in a container see its data?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.reading_data import check_the_example
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(1800)


def test_a_container_sees_its_data_where_the_spec_says(
    docker_stack: RunningStack, tmp_path: Path
) -> None:
    _, seen = check_the_example(docker_stack, tmp_path)
    assert seen == "/data/imagenet/train"
