"""A job that a test has submitted, and what the test may ask of it over REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import httpx

from tests.end_to_end.waiting import job_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedJob:
    """One job, seen with the token of its team."""

    client: httpx.Client
    job_id: str

    @classmethod
    def submit(cls, client: httpx.Client, spec: dict[str, Any], **headers: str) -> Self:
        answer = client.post("/api/v1/jobs", json=spec, headers=headers)
        assert answer.status_code == 201, answer.text
        return cls(client=client, job_id=answer.json()["id"])

    def document(self) -> dict[str, Any]:
        return job_of(self.client, self.job_id)

    def ask(self, verb: str) -> None:
        """Ask for something of the job: pause, resume, cancel."""
        answer = self.client.post(f"/api/v1/jobs/{self.job_id}/{verb}", json={})
        assert answer.status_code < 300, answer.text

    def cancel(self) -> None:
        """Without complaint if it has ended already."""
        self.client.post(f"/api/v1/jobs/{self.job_id}/cancel", json={})

    def log_lines(self) -> list[str]:
        """What its workers have written, oldest first."""
        answer = self.client.get(f"/api/v1/jobs/{self.job_id}/logs", params={"tail": 10_000})
        return [line["text"] for line in answer.json()["items"]]

    def is_in(self, state: str) -> bool:
        return bool(self.document()["state"] == state)

    def trains_with(self, workers: int) -> bool:
        job = self.document()
        assert job["state"] not in {"failed", "cancelled"}, job["message"]
        return bool(job["workers"] == workers and job["state"] == "running")

    def has_begun(self) -> bool:
        """Its first step and its first generation are on record; they come in two reports."""
        return self.document()["step"] > 0 and bool(self.generations())

    def generations(self, *, after: int = 0) -> list[dict[str, Any]]:
        """Its generations with a number above `after`, oldest first."""
        answer = self.client.get(f"/api/v1/jobs/{self.job_id}/generations")
        return [g for g in answer.json()["items"] if g["number"] > after]

    @property
    def newest_generation(self) -> dict[str, Any]:
        return self.generations()[-1]
