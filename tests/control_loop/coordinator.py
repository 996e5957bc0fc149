"""What does a job's coordinator report? What a test wants, at once, to the real service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from concertina_worker.protocol import MemberPhase
from jobs.commands.observations.sync import record_sync
from jobs.models import Generation, Job
from jobs.reports.job_token import Credential
from jobs.reports.sync_report import CheckedSyncReport


@dataclass
class Coordinator:
    """What a job's coordinator would report, at once and as a test wants it."""

    job_id: str
    started_at: float = 0.0

    def sync(
        self,
        phases: Mapping[str, MemberPhase] | None = None,
        *,
        is_registered: bool = True,
        **fields: Any,
    ) -> Mapping[str, Any]:
        """Report these workers; the answer is what the service wants."""
        newest = Generation.objects.filter(job=self.job_id).order_by("number").last()
        report = {
            "term": Job.objects.get(pk=self.job_id).coordinator_term,
            "registered": is_registered,
            "generation": newest.number if newest else 0,
            "workers": [
                {"worker_id": worker, "phase": phase} for worker, phase in (phases or {}).items()
            ],
            **fields,
        }
        parsed = CheckedSyncReport.model_validate(report)
        answer = record_sync(
            job_id=self.job_id,
            report=parsed,
            credential=Credential(term=parsed.term),
            now=timezone.now(),
        )
        return dict(answer)

    def train(self, *, samples: int = 0) -> None:
        """All desired workers are ready, switch, and train in a new generation."""
        desired = self.sync()
        number = desired["next_generation"]
        self.sync(
            dict.fromkeys(desired["workers"], MemberPhase.TRAINING),
            generation=number,
            generations=[
                {
                    "number": number,
                    "revision": desired["revision"],
                    "cause": "desired",
                    "workers": desired["workers"],
                    "global_batch_size": desired["global_batch_size"],
                    "began_at": timezone.now().timestamp(),
                    "step": number * 10,
                    "stall_seconds": 0.25 if number > 1 else 0.0,
                    "lost_workers": [],
                }
            ],
            metrics=[metric(number, samples)] if samples else [],
        )


def metric(generation: int, samples: int) -> dict[str, Any]:
    """A step that was made just now, with a sample for each step so far."""
    now = timezone.now().timestamp()
    return {"at": now, "generation": generation, "step": samples, "samples": samples}
