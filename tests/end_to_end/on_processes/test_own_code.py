"""Does a folder of somebody's own run as it was when it was submitted, and hand over results?"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from concertina import Client
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)


def test_what_was_submitted_runs_whatever_becomes_of_the_folder(
    stack: RunningStack, page: Page, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("SAID = 'as it was submitted'\n")
    (tmp_path / "train.py").write_text(
        "import helper, os, pathlib\nprint(helper.SAID)\n"
        "notes = pathlib.Path(os.environ['CONCERTINA_OUTPUTS'], 'notes')\n"
        "notes.mkdir()\n(notes / 'said.txt').write_text(helper.SAID)\n"
    )
    with Client(stack.url, stack.tokens["vision"]) as client:
        code = client.upload_code(tmp_path)
    (tmp_path / "helper.py").write_text("SAID = 'changed'\n")
    spec = {
        "name": "own-code",
        "command": ["python", "train.py"],
        "code": {"digest": code.digest},
        "elastic": {"mode": "restart"},
    }
    with stack.client("vision") as client:
        job = SubmittedJob.submit(client, spec)
        until(lambda: job.is_in("completed"), what="it is over")
        assert "as it was submitted" in job.log_lines()
    with Client(stack.url, stack.tokens["vision"]) as client:
        assert client.results(job.job_id).download_folder("", tmp_path / "outputs") == 1
    assert (tmp_path / "outputs" / "notes" / "said.txt").read_text() == "as it was submitted"
    assert downloaded(page, job.job_id) == "as it was submitted"


def downloaded(page: Page, job_id: str) -> str:
    """What a person gets who looks into the folder and clicks on the file."""
    page.goto(f"/jobs/{job_id}")
    outputs = page.get_by_role("region", name="Outputs")
    outputs.get_by_role("button", name="notes/").click()
    row = outputs.get_by_role("row", name="said.txt")
    expect(row).to_contain_text("19 B")
    with page.expect_download() as download:
        row.get_by_role("link").click()
    assert download.value.suggested_filename == "said.txt"
    outputs.get_by_role("button", name="outputs", exact=True).click()
    expect(outputs.get_by_role("link", name="Download all")).to_be_visible()
    return download.value.path().read_text()
