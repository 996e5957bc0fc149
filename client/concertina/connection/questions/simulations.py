"""What can be asked of the simulator? What a workload would meet with under other policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from concertina.connection.connection import Send
    from concertina.connection.retrying import Clock
    from concertina.documents import SimulationDetail

_Followed = TypeVar("_Followed", bound="Mapping[str, Any]")  # with an `id` and a `state`

POLL_SECONDS: Final = 1.0
_LIVE: Final = frozenset({"queued", "running"})


class Simulations:
    """Admins simulate what they like, team leads a workload that is generated or their own."""

    def __init__(self, send: Send, clock: Clock) -> None:
        self._send = send
        self._clock = clock

    def request(self, wish: Mapping[str, Any]) -> SimulationDetail:
        """Ask for one: at least a `trace` and `policies`.

        Raises:
            NotAllowed: neither an admin nor a team lead speaks, or a lead about what was.
            RefusedByService: a field is wrong, or it would take too long.
        """
        made = self._send("POST", "/simulations", body=dict(wish), is_repeatable=False)[1]
        return cast("SimulationDetail", made)

    def get(self, simulation_id: str) -> SimulationDetail:
        return cast("SimulationDetail", self._send("GET", f"/simulations/{simulation_id}")[1])

    def cancel(self, simulation_id: str) -> SimulationDetail:
        path = f"/simulations/{simulation_id}/cancel"
        return cast("SimulationDetail", self._send("POST", path)[1])

    def until_final(
        self, simulation: SimulationDetail, on_progress: Callable[[SimulationDetail], None]
    ) -> SimulationDetail:
        """Return it when it has ended; it is told about once a second until then."""
        return followed(simulation, self.get, self._clock, on_progress)


def followed(
    document: _Followed,
    read: Callable[[str], _Followed],
    clock: Clock,
    on_progress: Callable[[_Followed], None],
) -> _Followed:
    """Read what takes a while about once a second until it has ended, and tell of it before."""
    while document["state"] in _LIVE:
        on_progress(document)
        clock.sleep(POLL_SECONDS)
        document = read(document["id"])
    return document
