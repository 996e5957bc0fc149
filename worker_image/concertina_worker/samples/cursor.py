"""Where in the data does the training stand? The whole state of the data is one `Cursor`.

Every worker goes through the same samples in the same order, takes the same batch at the cursor
and computes its own part of it. So any number of workers can go on from any cursor, and each
sample is used exactly once per epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """`position` samples of `epoch` are used.

    `length` and `fingerprint` say of what data: see `order.SampleOrder`. They are unknown (None)
    until the epoch has begun, the length of a stream until it has ended.
    """

    epoch: int = 0
    position: int = 0
    length: int | None = None
    fingerprint: int | None = None

    def after(self, batch: range) -> Cursor:
        return replace(self, position=batch.stop)

    def next_epoch(self) -> Cursor:
        return Cursor(epoch=self.epoch + 1)
