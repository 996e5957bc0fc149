"""Does a job find its data where it lies, and does its page say so?"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.end_to_end.reading_data import check_the_example
from tests.end_to_end.running_stack import RunningStack

pytestmark = pytest.mark.timeout(1800)


def test_a_job_is_told_where_its_data_lies_and_its_page_names_it(
    stack: RunningStack, tmp_path: Path, page: Page
) -> None:
    job_id, seen = check_the_example(stack, tmp_path)
    assert seen == str(stack.data_folder / "imagenet" / "train")
    page.goto(f"/jobs/{job_id}")
    expect(page.get_by_text("data imagenet/train")).to_be_visible()
