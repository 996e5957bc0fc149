"""What can a program that awaits ask of the service? The same as of `Client`, from one source.

    from concertina import AsyncClient
    async with AsyncClient.from_environment() as client:
        job = await client.wait((await client.submit(spec)).job["id"])

Every method raises a `concertina.errors.ConcertinaError` when it does not work, and tries again
by itself, for as long as the client's retry policy says, when the service is away for a moment.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from threading import Event as Flag
from typing import TYPE_CHECKING, Any, Self, cast
from urllib.parse import quote

from concertina.api.asynchronous import AsyncApi
from concertina.api.request import ApiRequest, one_key
from concertina.code.packing import packed
from concertina.connection import credentials
from concertina.connection.async_transport import AsyncTransport
from concertina.connection.paging import following
from concertina.connection.retrying import (
    BRIEF,
    PATIENT,
    RemainingRetries,
    RetryPolicy,
    SystemClock,
)
from concertina.connection.senders import AsyncRetryingSender
from concertina.connection.talks.carrying import AwaitedSteps, awaited_result_of, result_of_reading
from concertina.connection.talks.log_following import LogFollower
from concertina.connection.talks.uploading import Upload
from concertina.connection.talks.waiting import JobWatch
from concertina.data.sending import upload_folder
from concertina.errors import BadInput
from concertina.submissions import BulkSubmission, Submission, UploadedCode, UploadedData

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from concertina.documents import Event, Job, LogLine
    from concertina.errors import Unreachable

_MADE = 201  # HTTP's "created"


class AsyncClient:
    """The service, seen as a token's owner; without one, `as_person` works."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        policy: RetryPolicy = BRIEF,
        on_delay: Callable[[Unreachable, float], None] = lambda _error, _seconds: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.url = credentials.normalised_url(url)
        self._transport = AsyncTransport(credentials.Credentials(url=self.url, token=token))
        self._policy = policy
        self._on_delay = on_delay
        self._sleep = sleep

    @classmethod
    def from_environment(cls) -> Self:
        """The service of `CONCERTINA_URL` and `CONCERTINA_TOKEN`, or of `concertina login`."""
        found = credentials.load()
        return cls(found.url, found.token)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    @property
    def api(self) -> AsyncApi:
        """Every operation of the API, by its name there."""
        return AsyncApi(self._sender(self._policy))

    @asynccontextmanager
    async def as_person(self, username: str, password: str) -> AsyncIterator[Self]:
        """Speak for a person within, such as an admin, and not for the token's team.

        That holds for this task and those that it begins within, and not for others.
        """
        async with self._transport.as_nobody() as prove:
            await self.api.log_in({"username": username, "password": password})
            prove()
            try:
                yield self
            finally:
                await self.api.log_out()

    async def submit(
        self, spec: dict[str, Any], *, idempotency_key: str | None = None
    ) -> Submission:
        """Queue a job. However often a broken connection makes us repeat it, it is one job."""
        job, is_new = await self._make("/jobs", spec, idempotency_key)
        return Submission(job=job, is_new=is_new)

    async def submit_bulk(
        self, bulk: dict[str, Any], *, idempotency_key: str | None = None
    ) -> BulkSubmission:
        """Queue the jobs of a document: `jobs`, `spec` and `changes`, or the `spec` of an array."""
        jobs, is_new = await self._make("/jobs:bulk", bulk, idempotency_key)
        return BulkSubmission(jobs=jobs, is_new=is_new)

    async def wait(
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
        async with self._steps(PATIENT) as steps:
            return await awaited_result_of(watch.until_final(), steps)

    def follow_logs(
        self,
        job_id: str,
        *,
        worker: str | None = None,
        tail: int = 1000,
        notice: Callable[[str], None] = lambda _said: None,
    ) -> AsyncGenerator[LogLine]:
        """The last lines and those to come, each once, until the job is final."""
        follower = LogFollower(patience=self._patience(PATIENT), notice=notice)
        return self._steps(PATIENT).told(follower.lines(job_id, worker=worker, tail=tail))

    async def every(
        self, list_page: Callable[..., Awaitable[Any]], *names: Any, **parameters: Any
    ) -> AsyncGenerator[Any]:
        """All entries of an operation that answers in pages: `client.every(client.api.list_jobs)`.

        Pages are fetched as their entries are asked for.
        """
        place: dict[str, Any] | None = {}
        while place is not None:
            page = await list_page(*names, **(parameters | place))
            for item in page["items"]:
                yield item
            place = following(page)

    async def upload_code(
        self,
        folder: Path,
        *,
        team: str | None = None,
        on_progress: Callable[[int, int], None] = lambda _sent, _total: None,
    ) -> UploadedCode:
        """Pack a folder, and upload it unless the team has the same already.

        What it returns is what a spec's `code` names. Raises: BadInput (it cannot be packed).
        """
        name = team or await self._own_team()
        with packed(folder) as code:
            path = f"/teams/{quote(name, safe='')}/code/{code.digest}"
            upload = Upload(path, code.archive, code.length, on_progress=on_progress)
            is_new = await awaited_result_of(upload.run(), self._steps(self._policy))
            return UploadedCode(
                digest=code.digest, files=code.files, bytes=code.bytes, is_new=is_new
            )

    async def upload_data(
        self,
        name: str,
        folder: Path,
        *,
        team: str | None = None,
        on_read: Callable[[int, int], None] = lambda _read, _total: None,
        on_progress: Callable[[int, int], None] = lambda _sent, _total: None,
    ) -> UploadedData:
        """Upload a folder for a team, unless it is there already, and let its jobs name it.

        As `Client.data.upload`: an upload that was broken off goes on where it was. A thread reads
        the files, and calls `on_read` and `on_progress`. Raises: BadInput (it cannot be sent).
        """
        whose = team or await self._own_team()
        is_over = Flag()

        def go_on(read: int, total: int) -> None:
            if is_over.is_set():  # cancelled, and the event loop waits for its threads
                raise asyncio.CancelledError
            on_read(read, total)

        talk = upload_folder(name, folder, team=whose, on_read=go_on, on_progress=on_progress)
        try:
            return await result_of_reading(talk, self._steps(self._policy))
        finally:
            is_over.set()

    async def _own_team(self) -> str:
        mine = [one["name"] for one in (await self.api.list_teams())["items"] if one["is_mine"]]
        if len(mine) != 1:
            raise BadInput(f"Name one of your teams: {', '.join(mine) or 'you have none'}.")
        return mine[0]

    async def _make(
        self, path: str, body: dict[str, Any], idempotency_key: str | None
    ) -> tuple[Any, bool]:
        headers = {"Idempotency-Key": one_key(idempotency_key)}
        request = ApiRequest.of("POST", path, body=body, headers=headers)
        status, answer = await self._sender(self._policy).send(request)
        return cast("Any", answer), status == _MADE

    def _steps(self, policy: RetryPolicy) -> AwaitedSteps:
        return AwaitedSteps(self._sender(policy), self._sleep)

    def _sender(self, policy: RetryPolicy) -> AsyncRetryingSender:
        return AsyncRetryingSender(self._transport, lambda: self._patience(policy), self._sleep)

    def _patience(self, policy: RetryPolicy) -> RemainingRetries:
        return RemainingRetries(policy, SystemClock(), self._on_delay)
