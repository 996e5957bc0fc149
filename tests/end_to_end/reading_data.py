"""Does the example of docs/data/data-sources.md read its data, on whichever kind of hosts?"""

from __future__ import annotations

import re
from pathlib import Path

from concertina import Client
from concertina.input import job_files
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

SEES_LABELS = "print('uploaded:', (elastic.data('labels') / 'names').read_text())\n"
PAGE = Path(__file__).parents[2] / "docs" / "data" / "data-sources.md"


def check_the_example(stack: RunningStack, code: Path) -> tuple[str, str]:
    """Submit it, with data of our own; return the job's id and the folder that it says it found."""
    samples = stack.data_folder / "imagenet" / "train"
    samples.mkdir(parents=True)
    for number in range(3):
        (samples / f"{number}.png").touch()
    stack.add_data("imagenet", stack.data_folder / "imagenet", "vision")
    (script,), (text,) = (
        re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)
        for kind in ("python", "yaml")
    )
    (code / "train.py").write_text(f"{script}{SEES_LABELS}")
    labels = code / "labels"
    labels.mkdir()
    (labels / "names").write_text("one two")
    with Client(stack.url, stack.tokens["vision"]) as client:
        digest = client.upload_code(code).digest
        client.data.upload("labels", labels)
    spec = job_files.parse(text, PAGE.name).spec
    asked = {
        **spec,
        "code": {"digest": digest},
        "elastic": {"mode": "restart"},
        "data": [*spec["data"], {"source": "labels"}],
    }
    with stack.client("vision") as client:
        job = SubmittedJob.submit(client, asked)
        until(lambda: job.is_in("completed"), what="it is over")
        assert "uploaded: one two" in job.log_lines()
        (said,) = (line for line in job.log_lines() if line.startswith("3 samples in "))
    return job.job_id, said.removeprefix("3 samples in ")
