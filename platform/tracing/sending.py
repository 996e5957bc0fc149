"""Whom are spans handed to in this process? Nobody, unless tracing is switched on.

Whoever tells of something hands it over here and goes on: nothing waits for a collector, and
nothing fails because of one.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from tracing.spans import SpanPlace, TraceSpan

_log = logging.getLogger(__name__)


class SpanSender(Protocol):
    """Takes spans to wherever they are kept."""

    def begin(self, name: str, parent: SpanPlace | None) -> SpanPlace | None:
        """Return the place of a new span; None: its trace is not sampled."""
        ...

    def send(self, spans: Sequence[TraceSpan]) -> None:
        """Take the spans, at once; as many as there is room for."""
        ...

    def end(self) -> None:
        """Send what is left, for a short while at most."""
        ...


class _Handover:
    """The sender of this process, made when it is first needed."""

    def __init__(self) -> None:
        self.make: Callable[[], SpanSender] | None = None
        self.made: SpanSender | None = None
        self.has_failed = False
        self._making = threading.Lock()

    def sender(self) -> SpanSender | None:
        if self.made is None and self.make is not None and not self.has_failed:
            with self._making:  # of two who are the first at once, one makes it
                self._make_it()
        return self.made

    def begin_anew(self) -> None:
        """Let a child of the process make its own: connections and number are its parent's."""
        self.made, self._making = None, threading.Lock()

    def _make_it(self) -> None:
        if self.made is not None or self.make is None or self.has_failed:
            return
        try:
            self.made = self.make()
        except Exception:  # noqa: BLE001 - whatever it is, the service goes on
            self.has_failed = True  # it would fail again with every request
            _log.exception("No traces are sent from this process.", extra={"action": "trace"})


_handover = _Handover()
os.register_at_fork(after_in_child=_handover.begin_anew)


def switch_on(make: Callable[[], SpanSender] | None) -> None:
    """Have spans sent by what this makes, from now on; None: by nobody."""
    end()
    _handover.make, _handover.has_failed = make, False
    atexit.unregister(end)
    atexit.register(end)


def is_on() -> bool:
    return _handover.make is not None


def begin(name: str, parent: SpanPlace | None = None) -> SpanPlace | None:
    """Return the place of a span that begins now; None: nobody will be told of it."""
    try:
        sender = _handover.sender()
        return None if sender is None else sender.begin(name, parent)
    except Exception:  # noqa: BLE001 - no request and no tick fails because of a trace
        _log.exception("No trace is begun.", extra={"action": "trace"})
        return None


def send(*spans: TraceSpan) -> None:
    """Hand over spans; whatever is wrong with them, nobody else is concerned."""
    try:
        sender = _handover.sender()
        if sender is not None and spans:
            sender.send(spans)
    except Exception:  # noqa: BLE001 - likewise
        _log.exception("Spans were not sent.", extra={"action": "trace"})


def end() -> None:
    """Send what is left, for a short while at most; whoever is handed spans then begins anew."""
    made, _handover.made = _handover.made, None
    if made is not None:
        made.end()
