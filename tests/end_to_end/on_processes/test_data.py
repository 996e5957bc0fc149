"""Does a job find its data where it lies?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.reading_data import check_the_example
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(1800)


def test_a_job_is_told_where_its_data_lies(stack: RunningStack, tmp_path: Path) -> None:
    seen = check_the_example(stack, tmp_path)
    assert seen == str(stack.data_folder / "imagenet" / "train")
