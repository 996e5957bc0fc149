"""Is a job's code in its container, where nobody changes it, and what it hands over not?"""

from __future__ import annotations

from pathlib import Path

import pytest

from concertina import Client
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(1800)
SCRIPT = """\
import errno, helper, os
print(os.getcwd(), helper.SAID)
open("/outputs/said.txt", "w").write(helper.SAID)
try:
    open("/code/helper.py", "w")
except OSError as problem:
    print(errno.errorcode[problem.errno])
"""


def test_a_worker_starts_in_its_code_and_cannot_write_to_it(
    docker_stack: RunningStack, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text("SAID = 'from a folder'\n")
    (tmp_path / "train.py").write_text(SCRIPT)
    with Client(docker_stack.url, docker_stack.tokens["vision"]) as client:
        code = client.upload_code(tmp_path)
    spec = {
        "name": "own-code",
        "command": ["python", "train.py"],
        "code": {"digest": code.digest},
        "elastic": {"mode": "restart"},
    }
    with docker_stack.client("vision") as client:
        job = SubmittedJob.submit(client, spec)
        until(lambda: job.is_in("completed"), what="it is over")
        assert {"/code from a folder", "EROFS"} <= set(job.log_lines())
    with Client(docker_stack.url, docker_stack.tokens["vision"]) as client:
        results = client.results(job.job_id)
        assert results.download("said.txt", tmp_path / "said.txt") == len("from a folder")
        assert (tmp_path / "said.txt").read_text() == "from a folder"
        results.delete("said.txt")
        folder = docker_stack.checkout.state_dir / "state" / "jobs" / job.job_id / "outputs"
        until(lambda: not list(folder.iterdir()), what="it is removed")
