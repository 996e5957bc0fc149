"""Does the example of docs/data-sources.md read its data, on whichever kind of hosts?"""

from __future__ import annotations

import re
from pathlib import Path

from concertina import Client
from concertina.input import job_files
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

PAGE = Path(__file__).parents[2] / "docs" / "data-sources.md"


def check_the_example(stack: RunningStack, code: Path) -> tuple[str, str]:
    """Submit it; return the job's id and the folder that it says it found."""
    samples = stack.data_folder / "imagenet" / "train"
    samples.mkdir(parents=True)
    for number in range(3):
        (samples / f"{number}.png").touch()
    stack.add_data("imagenet", stack.data_folder / "imagenet", "vision")
    (script,), (spec,) = (
        re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)
        for kind in ("python", "yaml")
    )
    (code / "train.py").write_text(script)
    with Client(stack.url, stack.tokens["vision"]) as client:
        digest = client.upload_code(code).digest
    asked = {"code": {"digest": digest}, "elastic": {"mode": "restart"}}
    with stack.client("vision") as client:
        job = SubmittedJob.submit(client, {**job_files.parse(spec, PAGE.name).spec, **asked})
        until(lambda: job.is_in("completed"), what="it is over")
        (said,) = (line for line in job.log_lines() if line.startswith("3 samples in "))
    return job.job_id, said.removeprefix("3 samples in ")
