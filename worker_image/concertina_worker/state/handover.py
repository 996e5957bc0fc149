"""How do joiners get the state while the others train on?

The source sends a header, then a thread sends portions of parameters and optimizer state while
the next step computes its gradients: state changes only in an optimizer step, so no copy is
needed. Before that step the thread stops. What did not fit travels beside the steps that follow,
if the optimizer lets it (see `portions`); until all is there joiners take part in the exchanges
with zeros, and make every step with what they have. At the end travel the buffers, which the
forward pass changes.

Before each portion the source says whether another one comes, so that both sides stop at the same
place without knowing how fast the other computes.

Parameters of no optimizer may be frozen, or a teacher's, which the script changes whenever it
likes. They travel like the others; those that have changed since do so once more at the end.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

import torch

from concertina_worker.collective.group import Group, GroupLostError, broadcast
from concertina_worker.device.side_stream import SideStream
from concertina_worker.process import background
from concertina_worker.state.digest import digest
from concertina_worker.state.portions import may_step_between, portions
from concertina_worker.state.training_state import TrainingState
from concertina_worker.state.transfer import receive_header, send_header, send_or_receive

_SOURCE: Final = 0  # rank in the handover group

_log = logging.getLogger(__name__)


class Handover:
    """The state's way from the source to all joiners of a generation, seen by one of them.

    Every method raises GroupLostError when the other side is lost.
    """

    def __init__(self, group: Group, state: TrainingState) -> None:
        self._process_group = group.handover
        self._state = state
        self._left: list[list[torch.Tensor]] = []
        self._loose = state.parameters_of_no_optimizer()
        self._loose_at_first: list[int] = []  # their digests, of the source
        self._is_source = group.is_source
        self._thread: threading.Thread | None = None
        self._must_stop = threading.Event()
        self._has_failed = False  # the other side is lost
        self._fault: Exception | None = None  # in the thread, of any other kind
        self.seconds = 0.0  # for which state was on its way
        self._header_seconds = self._waited_seconds = 0.0
        self._steps = 0  # beside which state was on its way

    def send(self) -> None:
        """The header at once, what follows in the background."""
        began = time.monotonic()
        send_header(self._process_group, self._state.header(), root=_SOURCE)
        self._begin(began)

    def receive(self) -> None:
        """The header at once, what follows in the background."""
        began = time.monotonic()
        self._state.take_header(receive_header(self._process_group, root=_SOURCE))
        self._begin(began)

    def go_on(self) -> None:
        """State changes no more for a while: let it travel, unless it does already."""
        if self._thread is not None:
            return
        self._steps += 1
        self._must_stop.clear()
        side = SideStream([tensor for portion in self._left for tensor in portion])
        self._thread = background.start("concertina_transfer", self._travel, side)

    @property
    def has_all(self) -> bool:
        """True when nothing is left to send or receive but the buffers."""
        return not self._left

    def stop(self) -> bool:
        """State is about to change; True when it is complete: the handover is over."""
        began = time.monotonic()
        if may_step_between(self._state):
            self._must_stop.set()
        self.await_end()
        if self._has_failed:
            raise GroupLostError
        if self._fault is not None:
            raise self._fault
        if self.has_all:
            last = [*self._changed_since(), *self._state.buffers()]
            send_or_receive(self._process_group, last, root=_SOURCE)
            self._state.has_arrived()
        self._waited_seconds += time.monotonic() - began
        return self.has_all

    def await_end(self) -> None:
        """Wait until nothing reads or writes state any more."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def log(self) -> None:
        """Tell once what it took."""
        _log.info(
            "State was handed over action=handed_over header_seconds=%.4f transfer_seconds=%.4f"
            " waited_seconds=%.4f steps=%d",
            self._header_seconds,
            self.seconds,
            self._waited_seconds,
            self._steps,
        )

    def _begin(self, began: float) -> None:
        self._header_seconds = time.monotonic() - began
        self._left = portions(self._state)
        self.go_on()

    def _changed_since(self) -> list[torch.Tensor]:
        """Return which parameters of no optimizer have changed; the source knows that."""
        if not self._loose:
            return []
        has_changed = torch.zeros(len(self._loose), dtype=torch.int32)
        if self._is_source:
            now = [digest(tensor) for tensor in self._loose]
            pairs = zip(now, self._loose_at_first, strict=True)
            has_changed += torch.tensor([one != before for one, before in pairs])
        broadcast(self._process_group, has_changed, root=_SOURCE)
        return [t for t, changed in zip(self._loose, has_changed.tolist(), strict=True) if changed]

    # -- in the thread -------------------------------------------------------------------------

    def _travel(self, side: SideStream) -> None:
        began = time.monotonic()
        try:
            with side.in_use():
                if self._is_source and not self._loose_at_first:
                    self._loose_at_first = [digest(tensor) for tensor in self._loose]
                self._send_or_receive_portions()
        except GroupLostError:  # holds on to nothing: the group must become unreferenced
            self._has_failed = True
        except Exception as fault:  # noqa: BLE001 - `stop` raises it
            self._fault = fault
        self.seconds += time.monotonic() - began

    def _send_or_receive_portions(self) -> None:
        """Send or receive at least one portion, so that even the shortest steps get it over."""
        is_first = True
        while self._left and (is_first or self._goes_on()):
            send_or_receive(self._process_group, self._left[0], root=_SOURCE)
            self._left.pop(0)
            is_first = False

    def _goes_on(self) -> bool:
        word = torch.tensor([not self._must_stop.is_set()], dtype=torch.int32)
        broadcast(self._process_group, word, root=_SOURCE)
        return bool(word)
