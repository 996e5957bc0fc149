"""What can a program ask of the service? One method per thing, over REST only.

    from concertina import Client
    with Client.from_environment() as client:
        job = client.wait(client.submit(spec).job["id"])

Every method raises a `concertina.errors.ConcertinaError` when it does not work, and tries again
by itself, for as long as the client's retry policy says, when the service is away for a moment.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import quote

from concertina.api.request import ApiRequest, one_key
from concertina.connection import credentials, paging
from concertina.connection.connection import ApiConnection
from concertina.connection.questions.device_logins import DeviceLogins
from concertina.connection.questions.installation import InstallationQuestions
from concertina.connection.questions.jobs import JobQuestions
from concertina.connection.questions.personal_tokens import PersonalTokens
from concertina.connection.questions.trials.arrays import JobArrays
from concertina.connection.retrying import (
    BRIEF,
    PATIENT,
    Clock,
    RemainingRetries,
    RetryPolicy,
    SystemClock,
)
from concertina.connection.senders import RetryingSender
from concertina.connection.talks.carrying import BlockingSteps, result_of
from concertina.connection.talks.uploading import Upload
from concertina.connection.talks.waiting import JobWatch
from concertina.connection.team.questions import TeamQuestions
from concertina.connection.transport import Transport
from concertina.data.sources import DataSources
from concertina.errors import BadInput
from concertina.input import references
from concertina.results.job_results import JobResults
from concertina.results.models import Models
from concertina.submissions import BulkSubmission, Submission, UploadedCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from concertina.api.blocking import BlockingApi
    from concertina.connection.shells.remote_shell import RemoteShell
    from concertina.documents import Event, Job, JobDetail, SubmittedJob, Validation
    from concertina.errors import Unreachable


class Client(JobQuestions, InstallationQuestions, TeamQuestions):
    """The service, seen as a token's owner; without one, `as_person` and `device_logins` work."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        policy: RetryPolicy = BRIEF,
        clock: Clock | None = None,
        on_delay: Callable[[Unreachable, float], None] = lambda _error, _seconds: None,
    ) -> None:
        self.url = credentials.normalised_url(url)
        self._transport = Transport(credentials.Credentials(url=self.url, token=token))
        self._policy = policy
        self._on_delay = on_delay
        self.clock = clock or SystemClock()

    @classmethod
    def from_environment(cls) -> Self:
        """The service of `CONCERTINA_URL` and `CONCERTINA_TOKEN`, or of `concertina login`."""
        found = credentials.load()
        return cls(found.url, found.token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End its connections; `with` does it."""
        self._transport.close()

    @contextmanager
    def as_person(self, username: str, password: str) -> Iterator[Self]:
        """Speak for a person within, such as an admin, and not for the token's team.

        That holds for this thread, and not for others that use the client meanwhile.
        """
        with self._transport.as_person(username, password, self._send):
            yield self

    @property
    def api(self) -> BlockingApi:
        """Every operation of the API, by its name there."""
        from concertina.api.blocking import BlockingApi  # noqa: PLC0415 - large; commands need none

        return BlockingApi(RetryingSender(self._transport, self._patience))

    def who(self) -> str:
        """Return the name of the person whose token this is. Raises: NotAllowed, for a team's."""
        return str(self._send("GET", "/session")[1]["user"]["username"])

    @property
    def personal_tokens(self) -> PersonalTokens:
        """The keys of the person who asks."""
        return PersonalTokens(self._send)

    @property
    def device_logins(self) -> DeviceLogins:
        """Tokens for machines, which people grant in their browser."""
        return DeviceLogins(self._send, self.clock)

    @property
    def data(self) -> DataSources:
        """The data that jobs may name."""
        return DataSources(self._send, self._of_team)

    @contextmanager
    def shell(self, job_id: str, wanted: dict[str, Any]) -> Iterator[RemoteShell]:
        """Run a command beside a worker of a job; it is ended with this context.

        `wanted` is the request's body: `command`, `worker`, `is_terminal`, `rows`, `columns`.
        """
        from concertina.connection.shells.remote_shell import (  # noqa: PLC0415 - few ask for it
            RemoteShell,
        )

        with self._transport.events(f"/jobs/{job_id}/shells", {}, {}, body=wanted) as events:
            yield RemoteShell(
                transport=self._transport, clock=self.clock, job_id=job_id, events=events
            )

    def submit(self, spec: dict[str, Any], *, idempotency_key: str | None = None) -> Submission:
        """Queue a job. However often a broken connection makes us repeat it, it is one job."""
        return self._submit("/jobs", spec, idempotency_key)

    def submit_many(
        self, specs: Iterable[dict[str, Any]], *, idempotency_key: str | None = None
    ) -> BulkSubmission:
        """Queue up to 1000 jobs of a team, all or none, each once."""
        return self.submit_bulk({"jobs": list(specs)}, idempotency_key=idempotency_key)

    def submit_sweep(
        self,
        spec: dict[str, Any],
        changes: Iterable[dict[str, Any]],
        *,
        idempotency_key: str | None = None,
    ) -> BulkSubmission:
        """Queue a job for each change: `{"name": "lr-1", "env.LR": "0.1"}`; all or none."""
        bulk = {"spec": spec, "changes": list(changes)}
        return self.submit_bulk(bulk, idempotency_key=idempotency_key)

    def submit_bulk(
        self, bulk: dict[str, Any], *, idempotency_key: str | None = None
    ) -> BulkSubmission:
        """Queue the jobs of a document: `jobs`, `spec` and `changes`, or the `spec` of an array."""
        jobs, is_new = self._make("/jobs:bulk", bulk, idempotency_key)
        return BulkSubmission(jobs=jobs, is_new=is_new)

    def submit_array(
        self, spec: dict[str, Any], *, idempotency_key: str | None = None
    ) -> BulkSubmission:
        """Queue a job for each trial of the spec's `array`; all or none."""
        return self.submit_bulk({"spec": spec}, idempotency_key=idempotency_key)

    @property
    def arrays(self) -> JobArrays:
        """Jobs that were submitted as trials of one array: how they stand, and all at once."""
        return JobArrays(self._send)

    def upload_code(
        self,
        folder: Path,
        *,
        team: str | None = None,
        on_progress: Callable[[int, int], None] = lambda _sent, _total: None,
    ) -> UploadedCode:
        """Pack a folder, and upload it unless the team has the same already.

        What it returns is what a spec's `code` names. Raises: BadInput (it cannot be packed).
        """
        from concertina.code.packing import packed  # noqa: PLC0415 - few commands send code

        with packed(folder) as code:
            path, content = f"{self._of_team(team)}/code/{code.digest}", (code.archive, code.length)
            is_new = Upload(path, *content, on_progress=on_progress).by(self._send)
            return UploadedCode(
                digest=code.digest, files=code.files, bytes=code.bytes, is_new=is_new
            )

    def download_code(self, job_id: str, into: Path) -> int:
        """Bring back the code that a job was submitted with; returns how many files it has.

        Raises: BadInput (the folder is not empty), NotFound (the job has no code).
        """
        from concertina.code.fetching import unpack  # noqa: PLC0415 - few commands fetch code

        with tempfile.TemporaryFile() as archive:
            self._transport.download(f"/jobs/{job_id}/code", archive)
            archive.seek(0)
            return unpack(archive, into)

    def results(self, job_id: str) -> JobResults:
        """What the job leaves behind: listed, downloaded, deleted."""
        return JobResults(job_id, self._connection())

    def models(self, team: str | None = None) -> Models:
        """The checkpoints to which a team gave names; by default the token's own team."""
        return Models(self._of_team(team), self._connection())

    def validate(self, spec: dict[str, Any], *, outlook: bool = False) -> Validation:
        """Ask what a submit would say, without submitting; and what would become of the job."""
        params = {"outlook": True} if outlook else {}
        answer = self._send("POST", "/jobs:validate", body=spec, params=params)[1]
        return cast("Validation", answer)

    def edit(
        self, job_id: str, changes: dict[str, Any], *, version: int | None = None
    ) -> SubmittedJob:
        """Change what a live job asks for: a part of a spec, in which None brings a default back.

        With the `version` that you have read it is refused if somebody was quicker.
        """
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        job = self._send("PATCH", f"/jobs/{job_id}", body=changes, headers=headers)[1]
        return cast("SubmittedJob", job)

    def rerun(
        self,
        job_id: str,
        changes: dict[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Submission:
        """Submit a job's spec once more, with changes of any of its fields."""
        return self._submit(f"/jobs/{job_id}/rerun", changes or {}, idempotency_key)

    def cancel(self, job_id: str, *, reason: str = "", tree: bool = False) -> JobDetail:
        """End the job for good; with `tree` all that waits for it as well."""
        return self._control(job_id, "cancel", reason, **({"tree": True} if tree else {}))

    def pause(self, job_id: str, *, reason: str = "") -> JobDetail:
        """Have the job write a checkpoint and give its GPUs back until it is resumed."""
        return self._control(job_id, "pause", reason)

    def resume(self, job_id: str, *, reason: str = "") -> JobDetail:
        return self._control(job_id, "resume", reason)

    def delete(self, job_id: str) -> None:
        """Forget a job that has ended, with its logs and checkpoints. There is no way back."""
        self._send("DELETE", f"/jobs/{job_id}", is_repeatable=False)

    def pin(self, job_id: str) -> JobDetail:
        """Keep all of it, whatever its age."""
        return cast("JobDetail", self._send("POST", f"/jobs/{job_id}/pin")[1])

    def unpin(self, job_id: str) -> JobDetail:
        return cast("JobDetail", self._send("POST", f"/jobs/{job_id}/unpin")[1])

    def every(self, list_page: Callable[..., Any], *names: Any, **parameters: Any) -> Iterator[Any]:
        """All entries of an operation that answers in pages: `client.every(client.api.list_jobs)`.

        Pages are fetched as their entries are asked for.
        """
        place: dict[str, Any] | None = {}
        while place is not None:
            page = list_page(*names, **(parameters | place))
            yield from page["items"]
            place = paging.following(page)

    def find(self, reference: str) -> Job:
        """The job with this id, or with this name (`name` or `team/name`)."""
        return references.find(self, reference)

    def wait(
        self,
        job_id: str,
        *,
        on_event: Callable[[Event], None] = lambda _event: None,
        on_progress: Callable[[Job], None] | None = None,
        progress_seconds: float = 2.0,
    ) -> Job:
        """Wait for a job to become final, telling of what happens; gives the final job.

        Events are told as they come. `on_progress` is told the job about every so many seconds,
        from 1 to 15; leave it out, and the job is hardly read before it is final.
        """
        watch = JobWatch(
            job_id, on_event=on_event, on_progress=on_progress, progress_seconds=progress_seconds
        )
        with self.patient()._steps() as steps:  # noqa: SLF001 - this one's, with more patience
            return result_of(watch.until_final(), steps)

    def patient(self) -> Client:
        """This client, but willing to wait ten minutes for an absent service."""
        other = object.__new__(Client)
        other.__dict__.update(self.__dict__, _policy=PATIENT)
        return other

    def _of_team(self, team: str | None) -> str:
        if not team:
            mine = [one["name"] for one in self.teams() if one["is_mine"]]
            if len(mine) != 1:
                raise BadInput(f"Name one of your teams: {', '.join(mine) or 'you have none'}.")
            team = mine[0]
        return f"/teams/{quote(team, safe='')}"

    def _submit(self, path: str, body: dict[str, Any], idempotency_key: str | None) -> Submission:
        job, is_new = self._make(path, body, idempotency_key)
        return Submission(job=job, is_new=is_new)

    def _make(
        self, path: str, body: dict[str, Any], idempotency_key: str | None
    ) -> tuple[Any, bool]:
        headers = {"Idempotency-Key": one_key(idempotency_key)}
        status, answer = self._send("POST", path, body=body, headers=headers)
        return answer, status == 201  # noqa: PLR2004 - HTTP's "created"

    def _control(self, job_id: str, verb: str, reason: str, **params: bool) -> JobDetail:
        """A verb is no repeatable request: done once, its repetition is an illegal move."""
        body = {"reason": reason} if reason else {}
        path = f"/jobs/{job_id}/{verb}"
        answer = self._send("POST", path, body=body, params=params, is_repeatable=False)[1]
        return cast("JobDetail", answer)

    def _get(self, path: str, **params: Any) -> Any:
        return self._send("GET", path, params=params)[1]

    def _items(self, path: str, **params: Any) -> list[Any]:
        return cast("list[Any]", self._get(path, **params)["items"])

    def _connection(self) -> ApiConnection:
        return ApiConnection(transport=self._transport, send=self._send, patience=self._patience)

    def _steps(self) -> BlockingSteps:
        return BlockingSteps(RetryingSender(self._transport, self._patience), self.clock)

    def _patience(self) -> RemainingRetries:
        return RemainingRetries(self._policy, self.clock, self._on_delay)

    def _send(
        self, method: str, path: str, *, is_repeatable: bool = True, **request: Any
    ) -> tuple[int, Any]:
        whole = replace(ApiRequest.of(method, path, **request), is_repeatable=is_repeatable)
        return RetryingSender(self._transport, self._patience).send(whole)
