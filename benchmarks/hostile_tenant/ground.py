"""Where does it happen? On a stack of its own, with two teams that share its slots in halves.

The hostile team may use its half only: what is measured is the service, not how soon a borrower
gives back what it was lent.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg2
from local_stack import checkout as checkouts
from local_stack import secrets_file
from local_stack.checkout import Checkout
from local_stack.processes import embedded_postgres
from local_stack.stack import background, preparation
from local_stack.stack.service import StackService
from local_stack.stack.stack import Options
from local_stack.stack_record import StackRecord

from benchmarks.hostile_tenant import attack, specs
from benchmarks.hostile_tenant.left_over import left_over, running
from concertina.client import Client
from concertina.errors import ConcertinaError

SLOTS = 4
TOKENS = 8
MOST_NICE = 19
HOSTILE, OTHER = "language", "vision"
FLOOD = Path(__file__).with_name("flood.py")
_LONGEST_SECONDS = 120.0

_PREPARE = """
import json
from tenancy.access.keys import tokens
from tenancy.models import Quota, Team
team = Team.objects.get(name={hostile!r})
Quota.objects.filter(team=team).update(limit_gpus={limit})
print(json.dumps([tokens.issue(team=team, name=f"hostile-{{n}}")[1] for n in range({number})]))
"""
_STEAL = """
import json
from django.utils import timezone
from jobs.reports import job_token
from jobs.models import Job
now, found = timezone.now(), Job.objects.filter(pk__in={jobs!r})
print(json.dumps({{job.id: [job_token.of_coordinator(job.id, term=job.coordinator_term, now=now),
                            job.coordinator_term] for job in found}}))
"""
_PUT_ASIDE = """UPDATE jobs_job SET state = 'cancelled', finished_at = now()
    WHERE state = 'queued' AND team_id = (SELECT id FROM tenancy_team WHERE name = %s)"""
_BRING_BACK = """UPDATE jobs_job SET state = 'queued', finished_at = NULL
    WHERE state = 'cancelled' AND name LIKE 'full-%%'
    AND team_id = (SELECT id FROM tenancy_team WHERE name = %s)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The running stack, and what the hostile team prepared on it."""

    checkout: Checkout
    record: StackRecord
    client: Client  # the other team's
    target: Path
    nice: int
    left_over: Path | None  # takes the ids of attackers, that they give way at once
    floods: Path  # while this file is there, the hostile jobs write
    database: Any

    def queued(self) -> int:
        return int(self.ask("SELECT count(*) FROM jobs_job WHERE state = 'queued'")[0])

    def ask(self, statement: str, *values: object) -> tuple[Any, ...]:
        """The first row."""
        with self.database.cursor() as cursor:
            cursor.execute(statement, values)
            return tuple(cursor.fetchone() or ())

    def _run(self, statement: str) -> None:
        with self.database.cursor() as cursor:
            cursor.execute(statement, [HOSTILE])

    @contextmanager
    def attacked(self, kinds: tuple[str, ...]) -> Iterator[None]:
        """All of it at once, as long as this lasts."""
        if "queue" in kinds:
            self._run(_BRING_BACK)
        if "floods" in kinds:
            self.floods.touch()
        programs = [self._program(kind) for kind in kinds if kind in attack.KINDS]
        try:
            yield
        finally:
            for program in programs:
                program.terminate()
            for program in programs:
                program.wait()
            self.floods.unlink(missing_ok=True)
            self.put_queue_aside()

    def put_queue_aside(self) -> None:
        """The hostile jobs that wait; in peace there are none."""
        self._run(_PUT_ASIDE)

    def _program(self, kind: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", attack.__name__, kind, str(self.target), str(self.nice)]
        program = subprocess.Popen(command, cwd=self.checkout.root, start_new_session=True)
        _give_way([program.pid], self.left_over)
        return program

    def answered(self) -> dict[str, Counter[str]]:
        """How often the attackers were answered in which way, by kind."""
        found: dict[str, Counter[str]] = {}
        for file in self.target.parent.glob("*-*.json"):
            kind = file.name.partition("-")[0]
            found.setdefault(kind, Counter()).update(json.loads(file.read_text()))
        return found


@contextmanager
def prepared(folder: Path, *, queued: int, nice: int) -> Iterator[Ground]:
    """A stack in the folder, the hostile team's jobs running and so many more queued."""
    with left_over() as group, _prepared(folder, queued, nice, group) as ground:
        yield ground


@contextmanager
def _prepared(folder: Path, queued: int, nice: int, group: Path | None) -> Iterator[Ground]:
    if nice < MOST_NICE:
        group = None  # they shall get something where others use the machine as well
    folder.chmod(0o755)  # its jobs look for a file in it
    checkout = checkouts.find(home=folder / "state")
    options = Options(slots=SLOTS)
    record = background.start(checkout, options, ends_with_us=True, say=lambda _: None)
    try:
        secrets = secrets_file.load_or_create(checkout)
        service = StackService(
            checkout=checkout,
            secrets=secrets,
            port=_port(record),
            tick_seconds=options.tick_seconds,
        )
        made = _told(service, _PREPARE.format(hostile=HOSTILE, limit=SLOTS // 2, number=TOKENS))
        floods = folder / "flood-now"
        jobs = _run_floods(record.url, made[0], floods, nice)
        _give_way(list(running(str(FLOOD).encode())), group)
        _fill_queue(record.url, made, queued)
        target = folder / "target.json"
        target.write_text(
            json.dumps(
                {
                    "port": _port(record),
                    "tokens": made,
                    "jobs": jobs,
                    "reporting": _told(service, _STEAL.format(jobs=jobs)),
                }
            )
        )
        url = embedded_postgres.url(checkout.runtime_dir)
        with (
            Client(record.url, secrets.tokens[OTHER]) as client,
            closing(psycopg2.connect(url)) as database,
        ):
            database.autocommit = True
            ground = Ground(
                checkout=checkout,
                record=record,
                client=client,
                target=target,
                nice=nice,
                left_over=group,
                floods=floods,
                database=database,
            )
            ground.put_queue_aside()
            yield ground
    finally:
        background.stop(checkout, say=lambda _: None)


def _port(record: StackRecord) -> int:
    return int(record.url.rpartition(":")[2])


def _told(service: StackService, script: str) -> Any:
    said = preparation.manage(service, "shell", "--no-imports", "--command", script)
    return json.loads(said.strip().splitlines()[-1])


def _run_floods(url: str, token: str, sign: Path, nice: int) -> list[str]:
    with Client(url, token) as client:
        jobs = [
            client.submit(
                {
                    "name": f"flood-{kind}",
                    "command": ["python", str(FLOOD), str(sign), kind, str(nice)],
                    "preemptibility": "non-preemptible",
                }
            ).job["id"]
            for kind in ("lines", "bytes")
        ]
        until(lambda: all(client.job(job)["state"] == "running" for job in jobs))
    return jobs


def _give_way(processes: list[int], group: Path | None) -> None:
    if group is None:
        return
    for process in processes:
        group.write_text(str(process))


def _fill_queue(url: str, tokens: list[str], queued: int) -> None:
    extremes = specs.extremes()
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(url, token)) for token in tokens]
        for number in range(queued):
            spec = {**extremes[number % len(extremes)], "name": f"full-{number}"}
            until(partial(_is_accepted, clients[number % len(clients)], spec))


def _is_accepted(client: Client, spec: dict[str, Any]) -> bool:
    try:
        client.submit(spec)
    except ConcertinaError as error:
        if getattr(error, "status", None) != 429:
            raise
        time.sleep(1.0)
        return False
    return True


def until(condition: Any, *, every: float = 0.05) -> None:
    """Wait for it.

    Raises:
        TimeoutError: it did not come.
    """
    ends_at = time.monotonic() + _LONGEST_SECONDS
    while not condition():
        if time.monotonic() > ends_at:
            raise TimeoutError(f"nothing happened within {_LONGEST_SECONDS:g} s")
        time.sleep(every)
