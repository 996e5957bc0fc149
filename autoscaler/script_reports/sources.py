"""What did a worker's script write since the last look? In its report file, and in its log.

The folder of report files belongs to the job's user. So no link is followed there, nothing is
waited for, and only an ordinary file with one name is read. Of what is far behind the newest part
is read, so that a script that writes without end costs no more than any other.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.logs import log_files
from cluster.logs.log_blocks import forward

from autoscaler.script_reports.report_lines import ScriptReport, report_in_json, report_in_log
from jobs.spec.parts.logged_metrics import LoggedMetric

MOST_BYTES: Final = 256 << 10  # of one worker at one look; guessed: a line a second for an hour


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLines:
    """What was told, and behind which byte the next look begins."""

    reports: Sequence[ScriptReport]
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFiles:
    """The files in which one worker's script tells how far it is."""

    job_id: str
    worker: str
    state_dir: Path

    def reports_since(self, position: int) -> NewLines:
        """Read whole lines of the report file; one that was cut off or made anew begins again."""
        folder = self.state_dir / "jobs" / self.job_id / "reports"
        try:
            descriptor = os.open(
                folder / f"{self.worker}.jsonl", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            )
        except OSError:
            return NewLines(reports=(), position=position)
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
                return NewLines(reports=(), position=position)
            begin = position if position <= facts.st_size else 0
            start = max(begin, facts.st_size - MOST_BYTES)
            file.seek(start)
            data = file.read(MOST_BYTES)
        whole, end, _ = data.rpartition(b"\n")
        lines = whole.decode(errors="replace").split("\n") if end else []
        if start > begin:
            lines = lines[1:]  # its beginning was left out
        parsed = (report_in_json(line, written_at=facts.st_mtime) for line in lines)
        return NewLines(
            reports=[one for one in parsed if one], position=start + len(whole) + len(end)
        )

    def log_since(
        self, position: int, metrics: Sequence[LoggedMetric], *, has_time: Callable[[], bool]
    ) -> NewLines:
        """What the patterns find in whole lines of the log, as long as there is time."""
        folder = log_files.folder_of(self.job_id, state_dir=self.state_dir)
        parsed: list[ScriptReport] = []
        for log in log_files.logs_in(folder, process_id=self.worker):
            for placed in forward(log, max(position, log.end - MOST_BYTES)):
                if not has_time():
                    break
                position = placed.end
                at = placed.line.at.timestamp()
                found = report_in_log(placed.line.text, metrics, at=at)
                parsed += [found] if found else []
        return NewLines(reports=parsed, position=position)
