"""Which jobs train meanwhile? Two that grow and shrink, and a guest that makes them do so.

Each is submitted twice, as by a client whose connection broke, and must be one job. After a while
each is told to end, so that its samples can be counted, and the next one takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from concertina import Client
from local_stack.chaos.observation.sample_record import SampleRecord
from local_stack.chaos.stacks import job_folders
from local_stack.chaos.stacks.job_folders import JobFolder
from local_stack.chaos.stacks.target_stack import TargetStack

STOP: Final = "stop"
SAMPLES_DIR: Final = "samples"
SCRIPT: Final = "steady_line.py"
SAMPLES: Final = 160
SECONDS_PER_SAMPLE: Final = 0.01
BATCH: Final = 16
REGISTRATION: Final = "5m"  # of scripts that load PyTorch while everything else starts, too
STRIKES_OF_A_JOB: Final = 8  # then it ends, and another one begins


@dataclass(slots=True, kw_only=True)
class Training:
    """One job that was submitted."""

    id: str
    name: str
    team: str
    folder: Path
    strikes: int = 0  # that it has lived through
    is_told_to_end: bool = False
    _whole_record: SampleRecord | None = None

    @property
    def record_dir(self) -> Path:
        return self.folder / SAMPLES_DIR

    @property
    def stop_file(self) -> Path:
        return self.folder / STOP

    def record(self) -> SampleRecord:
        return self._whole_record or SampleRecord.read(self.record_dir)

    def keep(self, record: SampleRecord) -> None:
        """It has ended, so nothing is added any more."""
        self._whole_record = record

    def end(self) -> None:
        """Let the training end after this epoch."""
        self.folder.mkdir(parents=True, exist_ok=True)  # of a job that has not started yet
        self.stop_file.touch()
        self.is_told_to_end = True


class NotTraining(Exception):
    """The jobs do not train, and nothing was done to them yet."""


class SubmittedTwice(Exception):
    """The same submission, sent twice with the same key, made two jobs."""


@dataclass(slots=True, kw_only=True)
class ChaosWorkload:
    """The jobs of one run, those that have ended included."""

    stack: TargetStack
    trainings: dict[str, Training] = field(default_factory=dict)  # by id
    _elastic: dict[str, str] = field(default_factory=dict)  # ids of those that train, by team
    _guest: str | None = None

    def keep_busy(self) -> None:
        """Have one elastic job of each team. Those that have lived long enough are told to end."""
        for team in sorted(self.stack.tokens):
            now = self.trainings.get(self._elastic.get(team, ""))
            if now is not None and now.strikes >= STRIKES_OF_A_JOB:
                now.end()
                now = None
            if now is None:
                self._elastic[team] = self._submit(team, most=3).id

    def count_strike(self) -> None:
        for training in self.current():
            training.strikes += 1

    def change_sizes(self) -> None:
        """Have the guest come or leave, which makes one of the others shrink or grow."""
        if self._guest is None:
            team = sorted(self.stack.tokens)[len(self.trainings) % len(self.stack.tokens)]
            self._guest = self._submit(team, most=1).id
        else:
            self.trainings[self._guest].end()
            self._guest = None

    @property
    def has_guest(self) -> bool:
        return self._guest is not None

    def end_all(self) -> None:
        for training in self.trainings.values():
            if not training.is_told_to_end:
                training.end()

    def current(self) -> Iterator[Training]:
        """The trainings that have not been told to end."""
        return (one for one in self.trainings.values() if not one.is_told_to_end)

    def names(self) -> dict[str, str]:
        return {one.id: one.name for one in self.trainings.values()}

    def told_to_end(self) -> set[str]:
        return {one.id for one in self.trainings.values() if one.is_told_to_end}

    def _submit(self, team: str, *, most: int) -> Training:
        name = f"{self.stack.prefix}-{len(self.trainings) + 1}"
        place = job_folders.of_new_job(name, self.stack)
        spec = self._spec(name, place, most=most)
        with Client(self.stack.url, self.stack.tokens[team]) as client:
            ids = {client.submit(spec, idempotency_key=name).job["id"] for _ in range(2)}
        if len(ids) != 1:
            raise SubmittedTwice(f"{name} became {' and '.join(sorted(ids))}")
        job_id = ids.pop()
        folder = place.folder or job_folders.folder_of(job_id, self.stack)
        training = Training(id=job_id, name=name, team=team, folder=folder)
        self.trainings[training.id] = training
        return training

    def _spec(self, name: str, place: JobFolder, *, most: int) -> dict[str, Any]:
        options = {
            "samples": SAMPLES,
            "seconds-per-sample": SECONDS_PER_SAMPLE,
            "batch-size": BATCH,
            "stop-file": place.seen_as / STOP,
        }
        arguments = [word for key, value in options.items() for word in (f"--{key}", str(value))]
        return {
            "name": name,
            "command": place.scripts.command(SCRIPT, *arguments),
            **({"image": place.scripts.image} if place.scripts.image else {}),
            "env": {"CONCERTINA_SAMPLE_AUDIT_DIR": str(place.seen_as / SAMPLES_DIR)},
            "elastic": {
                "mode": "hot",
                "min_workers": 1,
                "max_workers": most,
                "registration_timeout": REGISTRATION,
            },
            "batch": {"global_batch_size": BATCH},
            "checkpoint": {"interval": "5s"},
        }
