"""Is the code there that jobs want of git repositories? What is not is fetched, and jobs wait.

Then the job's spec names the snapshot that it became, and the commit. From there on nothing tells
it from code that was uploaded.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from cluster.files.discarding import discard
from django.db import InterfaceError, OperationalError
from storage.code.paths import CodePaths
from storage.data.cache.fetches import Fetches, FetchTrouble
from storage.data.cache.room import Key
from storage.data.fetcher.orders import FetchResult
from storage.errors import TooMuchCode
from storage.repositories import fetched
from storage.repositories.fetched import FetchedRepository
from storage.repositories.fetcher.orders import CodeOrder
from storage.repositories.workplace import WantedFolder, Workplace
from tenancy.models import Team
from tenancy.secrets import team_secrets
from tenancy.secrets.team_secrets import SecretUnavailable

from autoscaler.control_loop.arriving.telling import tell
from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.lease.orders import FencedOrders
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.changes import events
from jobs.lifecycle import JobState
from jobs.models import Job
from jobs.spec import stored_spec

PROGRAM: Final = "storage.repositories.fetcher"
_CREDENTIALS: Final = ("GIT_USERNAME", "GIT_PASSWORD")  # a fetcher is told no others

_log = logging.getLogger(__name__)


def _fetches() -> Fetches:
    return Fetches(program=PROGRAM)


@dataclass(slots=True)
class CodeArrivals:
    """What this process fetches; a tick looks at it once."""

    fetches: Fetches = field(default_factory=_fetches)

    def go_on(
        self, views: Iterable[LiveJob], context: TickContext, giving: FencedOrders
    ) -> Mapping[str, StartPrerequisite]:
        """Fetch on; return what jobs lack that wait for their code, and tell them.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        wishes: dict[Key, _WantedCode] = {}
        for view in views:
            if view.is_queued and (wanted := _wanted_by(view)) is not None:
                key = view.job.team_id, wanted.digest
                wishes.setdefault(key, _WantedCode(wanted=wanted)).views.append(view)
        arriving: dict[str, StartPrerequisite] = {}
        if wishes:
            look = _ArrivingCode(
                wishes=wishes, fetches=self.fetches, context=context, giving=giving
            )
            look.take_in()
            arriving = look.arriving()
            tell([view for wish in wishes.values() for view in wish.views], arriving, context)
        for team_id, digest in self.fetches.keep_only(wishes):
            with giving.giving():
                folder = Workplace.of(context.code, team_id, digest).folder
                discard(folder, aside=context.code.aside)
        return arriving


def _wanted_by(view: LiveJob) -> WantedFolder | None:
    """Return what is to be fetched for a job; None: it has its code, or needs none."""
    code = view.spec.code
    if code is None or code.digest is not None or code.git is None:
        return None
    git = code.git
    return WantedFolder(url=git.url, ref=git.ref, path=git.path, secret=git.secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WantedCode:
    """Some code, and who waits for it: jobs of one team, one at least."""

    wanted: WantedFolder
    views: list[LiveJob] = field(default_factory=list)

    @property
    def team(self) -> Team:
        return self.views[0].job.team

    def workplace(self, paths: CodePaths) -> Workplace:
        return Workplace.of(paths, self.team.pk, self.wanted.digest)


@dataclass(slots=True, kw_only=True)
class _ArrivingCode:
    """One tick's look at all code that has to be fetched."""

    wishes: Mapping[Key, _WantedCode]
    fetches: Fetches
    context: TickContext
    giving: FencedOrders
    _has_come: set[Key] = field(default_factory=set)

    def take_in(self) -> None:
        """Make snapshots of what has been fetched; trouble with one is its own."""
        for outcome in list(self.fetches.ended(self.context.now)):
            wish = self.wishes.get(outcome.key)
            if wish is None or outcome.status.result is not FetchResult.DONE:
                continue
            try:
                self._take_in(wish)
                self._has_come.add(outcome.key)
            except (LeaseLost, OperationalError, InterfaceError):
                raise
            except Exception:  # noqa: BLE001 - of this code alone
                extra = {"action": "fetch_code", "team": outcome.key[0]}
                _log.exception("What came of a fetch cannot be kept.", extra=extra)
                self.fetches.put_off(outcome, "what came of it cannot be kept", self.context.now)

    def arriving(self) -> dict[str, StartPrerequisite]:
        found: dict[str, StartPrerequisite] = {}
        for key, wish in self.wishes.items():
            arrival = self._of(key, wish)
            found |= {view.id: arrival for view in wish.views}
        return found

    def _take_in(self, wish: _WantedCode) -> None:
        paths, by = self.context.code, wish.views[0].job.submitted_by
        with self.giving.giving():
            found = self._arrival(wish).put_into_place(actor=by)
            discard(wish.workplace(paths).folder, aside=paths.aside)
        self._name(found, wish)

    def _name(self, found: FetchedRepository, wish: _WantedCode) -> None:
        """Write down what jobs run; one whose row somebody holds has it fetched once more."""
        with self.context.fence.transaction():
            ids = [view.id for view in wish.views]
            rows = Job.objects.filter(pk__in=ids, state=JobState.QUEUED, code="").order_by("pk")
            jobs = list(rows.select_for_update(no_key=True, skip_locked=True))
            for job in jobs:
                job.code = found.digest
                job.resolved_spec = stored_spec.with_fetched_code(
                    job.resolved_spec,
                    digest=found.digest,
                    commit=found.commit,
                    branch=found.branch,
                )
            Job.objects.bulk_update(jobs, ["code", "resolved_spec"])
            events.record_all(
                events.new(
                    job_id=job.id,
                    kind=EventKind.PREPARING,
                    reason=JobReason.PREPARING,
                    message=f"Its code is commit {found.commit[:10]} of {wish.wanted.url}.",
                )
                for job in jobs
            )

    def _of(self, key: Key, wish: _WantedCode) -> StartPrerequisite:
        """What lacks who wants this; one whose code has just come starts in the next tick."""
        if key in self._has_come:
            return StartPrerequisite(note="its code has come")
        trouble = self.fetches.trouble(key)
        if trouble is not None and trouble.next_at is None:
            return _never(f"Its code cannot be fetched: {trouble.problem}")
        if (problem := self._begin(key, wish)) is not None:
            return problem
        return StartPrerequisite(note=self._said(key, wish, trouble))

    def _begin(self, key: Key, wish: _WantedCode) -> StartPrerequisite | None:
        """Begin a fetch if one may be begun; returns why it never can."""
        owner, now = str(wish.team.pk), self.context.now
        if not self.fetches.is_due(key, now, owner=owner):
            return None
        try:
            self._arrival(wish).check_room()
            order = self._order(wish)
            with self.giving.giving():
                self.context.code.make(wish.team.pk)
                wish.workplace(self.context.code).folder.mkdir(mode=0o700, exist_ok=True)
                self.fetches.begin(key, order, now, owner=owner)
        except TooMuchCode as problem:
            return _never(str(problem))
        except SecretUnavailable as problem:
            return _never(f"{problem} Its code cannot be fetched without it.")
        except OSError as problem:
            extra = {"action": "fetch_code", "team": wish.team.pk}
            _log.warning("A fetch cannot be begun: %s", problem, extra=extra)
        return None

    def _arrival(self, wish: _WantedCode) -> fetched.ArrivingSnapshot:
        paths, limits = self.context.code, self.context.code_limits
        workplace = wish.workplace(paths)
        return fetched.ArrivingSnapshot(
            team=wish.team, workplace=workplace, paths=paths, limits=limits
        )

    def _order(self, wish: _WantedCode) -> CodeOrder:
        """Raises: SecretUnavailable."""
        wanted, workplace = wish.wanted, wish.workplace(self.context.code)
        bounds, data = self.context.code_limits.snapshot, self.context.data
        return CodeOrder(
            url=wanted.url,
            ref=wanted.ref,
            path=wanted.path,
            folder=str(workplace.folder),
            status=str(workplace.status),
            credential=_credential(wish.team, wanted.secret),
            networks=tuple(str(one) for one in data.networks),
            own=data.own,
            most_bytes=bounds.most_bytes,
            most_files=bounds.most_files,
        )

    def _said(self, key: Key, wish: _WantedCode, trouble: FetchTrouble | None) -> str:
        if key in self.fetches:
            return f"its code is fetched from {urlsplit(wish.wanted.url).hostname}"
        if trouble is None:
            return "its code waits until other code is there"
        return f"its code: {trouble.problem.rstrip('.')}; it is tried again"


def _never(problem: str) -> StartPrerequisite:
    return StartPrerequisite(problem=problem, reason=JobReason.CODE_UNAVAILABLE)


def _credential(team: Team, secret: str) -> dict[str, str]:
    found = team_secrets.environment_of(team, [secret] if secret else [])
    return {variable: found[variable] for variable in _CREDENTIALS if variable in found}
