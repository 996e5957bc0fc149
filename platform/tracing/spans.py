"""What is sent to a collector? Something that began and ended, in whose trace.

Spans are values that are made when what they tell of is over. So they go on over processes: what
began in one may be told by another, as long as both know the trace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Final

LONGEST_HEADER: Final = 55  # characters of a `traceparent` of version 00
_HEADER: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST_READ: Final = 512  # of a later version, which may say more
_FIRST_VERSION, _NO_VERSION = "00", "ff"

SpanValue = str | bool | int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPlace:
    """Where a span is: in which trace, and which one of it."""

    trace_id: str  # 32 hexadecimal digits
    span_id: str  # 16
    is_sampled: bool = True

    @property
    def header(self) -> str:
        """The place as a `traceparent` of W3C Trace Context."""
        return f"{_FIRST_VERSION}-{self.trace_id}-{self.span_id}-{int(self.is_sampled):02x}"

    def beside(self, *names: object) -> SpanPlace:
        """Return where the span with these names is in this trace: every process finds the same."""
        text = "/".join(map(str, (self.trace_id, *names)))
        digest = sha256(text.encode()).hexdigest()[:16]
        return SpanPlace(trace_id=self.trace_id, span_id=digest, is_sampled=self.is_sampled)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """Something that began and ended."""

    name: str
    place: SpanPlace
    parent: SpanPlace | None
    began_at: datetime
    ended_at: datetime
    answers_a_request: bool = False
    attributes: Mapping[str, SpanValue] = field(default_factory=dict)
    links: tuple[SpanPlace, ...] = ()
    error: str = ""  # a word for what went wrong; empty: nothing did


def place_of(header: str | None) -> SpanPlace | None:
    """Read a `traceparent`; None: there is none, or it is not valid and so counts as none."""
    if not header or len(header) > _LONGEST_READ:
        return None
    found = _HEADER.fullmatch(header.strip())
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    is_known = version != _NO_VERSION and (version != _FIRST_VERSION or more is None)
    if not is_known or not int(trace_id, 16) or not int(span_id, 16):
        return None
    return SpanPlace(trace_id=trace_id, span_id=span_id, is_sampled=bool(int(flags, 16) & 1))
