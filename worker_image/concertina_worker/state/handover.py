"""How do joiners get the state while the others train on?

The source sends a header, then a thread sends parameters and optimizer state while the next step
computes its gradients: state changes only in an optimizer step, so no copy is needed. Joiners
take part in that step's exchange with zeros. Both sides call `finish` after the exchange and
before the optimizer step; buffers, which the forward pass changes, travel then.
"""

from __future__ import annotations

from typing import Final

from concertina_worker.collective.group import Group
from concertina_worker.state.training_state import TrainingState
from concertina_worker.state.transfer import (
    BackgroundTransfer,
    receive_header,
    send_header,
    send_or_receive,
)

_SOURCE: Final = 0  # rank in the handover group


class Handover:
    """One transfer of state from the source to all joiners of a generation, seen by one of them.

    Every method raises RuntimeError when the other side is lost.
    """

    def __init__(self, group: Group, state: TrainingState) -> None:
        self._process_group = group.handover
        self._state = state
        self._transfer: BackgroundTransfer | None = None

    def send(self) -> None:
        send_header(self._process_group, self._state.header(), root=_SOURCE)
        self._start()

    def receive(self) -> None:
        self._state.take_header(receive_header(self._process_group, root=_SOURCE))
        self._start()

    @property
    def seconds(self) -> float:
        """For how long state was on its way."""
        return self._transfer.seconds if self._transfer else 0.0

    def finish(self) -> None:
        """Wait for the state; afterwards a joiner holds what the source holds."""
        if self._transfer is not None and not self._transfer.finish():
            raise RuntimeError("the state was lost on its way")
        send_or_receive(self._process_group, self._state.buffers(), root=_SOURCE)
        self._state.is_complete = True

    def _start(self) -> None:
        self._transfer = BackgroundTransfer(
            self._process_group, self._state.tensors(), root=_SOURCE
        )
