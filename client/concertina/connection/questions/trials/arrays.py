"""What can be asked about arrays of jobs, and what can be done with all jobs of one?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from concertina.connection import paging
from concertina.errors import BadInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.connection.connection import Send
    from concertina.documents import JobArray, SteeredArray

_PAGE = 100


class JobArrays:
    """The arrays that the caller may see."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def every(self, *, team: str | None = None, name: str | None = None) -> Iterator[JobArray]:
        """All of them, the newest first, fetched page by page as they are asked for."""
        return paging.every(self._send, "/arrays", limit=_PAGE, team=team, name=name)

    def array(self, array_id: str) -> JobArray:
        """Return how the jobs of an array stand."""
        return cast("JobArray", self._send("GET", f"/arrays/{array_id}")[1])

    def find(self, reference: str) -> JobArray:
        """The array with this id, or the newest with this name (`name` or `team/name`).

        Raises:
            NotFound: none that this token may see.
            BadInput: arrays of several teams bear the name.
        """
        if reference.isalnum():
            try:
                return self.array(reference)
            except NotFound:
                pass  # a name may look like an id
        team, _, name = reference.rpartition("/")
        found = list(self.every(team=team or None, name=name)) if name else []
        if not found:
            raise NotFound(
                f"There is no array {reference!r}, or this token may not see it. "
                "`concertina arrays ls` lists those it may."
            )
        teams = sorted({one["team"] for one in found})
        if len(teams) > 1:
            choices = ", ".join(f"{one}/{name}" for one in teams)
            raise BadInput(f"{name!r} is the name of several arrays. Say which: {choices}.")
        return found[0]

    def cancel(self, array_id: str, *, reason: str = "") -> SteeredArray:
        """End all its jobs for good."""
        return self._steer(array_id, "cancel", reason)

    def pause(self, array_id: str, *, reason: str = "") -> SteeredArray:
        """Have all its jobs write a checkpoint and give their GPUs back until they are resumed."""
        return self._steer(array_id, "pause", reason)

    def resume(self, array_id: str, *, reason: str = "") -> SteeredArray:
        """Queue all its paused jobs again."""
        return self._steer(array_id, "resume", reason)

    def _steer(self, array_id: str, verb: str, reason: str) -> SteeredArray:
        """It may be repeated: what is done already stays as it is."""
        body = {"reason": reason} if reason else {}
        return cast("SteeredArray", self._send("POST", f"/arrays/{array_id}/{verb}", body=body)[1])
