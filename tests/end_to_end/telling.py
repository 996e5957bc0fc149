"""Does a script without the library tell how far it is? As the page about that shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx

from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

_PAGE = (Path(__file__).parents[2] / "docs/elastic-script/telling.md").read_text()
_SHELL = re.findall(r"```sh\n(.*?)```", _PAGE, re.DOTALL)[0]
_PYTHON = re.findall(r"```python\n(.*?)```", _PAGE, re.DOTALL)[0]


def check_what_is_told(client: httpx.Client) -> None:
    """Run what the page shows, and two lines of a log, side by side."""
    shell = _submit(client, "told-by-a-shell", ["sh", "-c", _SHELL])
    python = _submit(client, "told-by-python", ["python", "-c", f"step = loss = 7\n{_PYTHON}"])
    log = _submit(
        client,
        "told-by-a-log",
        ["sh", "-c", "echo step 3 loss=0.5; sleep 1; echo step 5 loss=0.25"],
        metrics=[
            {"name": "step", "pattern": "step ([0-9]+)"},
            {"name": "loss", "pattern": "loss[= ]([0-9.e+-]+)"},
        ],
    )
    until(lambda: _stands_at(shell, 8, {"loss": 0.8}), what="the shell's last line was read")
    until(lambda: _stands_at(python, 7, {"loss": 7.0}), what="Python's line was read")
    until(lambda: _stands_at(log, 5, {"loss": 0.25}), what="the last line of the log was read")
    assert shell.document()["total_samples"] == 8 * 32
    assert python.document()["total_samples"] == 1000 * 32
    for job in (shell, python, log):
        until(lambda job=job: job.is_in("completed"), what="it is over")  # type: ignore[misc]


def _submit(client: httpx.Client, name: str, command: list[str], **more: Any) -> SubmittedJob:
    spec = {"name": name, "command": command, "elastic": {"mode": "restart"}, **more}
    return SubmittedJob.submit(client, spec)


def _stands_at(job: SubmittedJob, step: int, values: dict[str, float]) -> bool:
    document = job.document()
    return (document["step"], document["values"]) == (step, values)
