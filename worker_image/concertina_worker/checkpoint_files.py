"""What are a checkpoint's files called, and what do they tell of it? The service reads that, too.

Standard library only. A checkpoint is two files: its *weights*, in safetensors, for everybody, and
the rest of the training's *state*, which only PyTorch in the job's own processes may read. The
state ends with what it is about, in JSON, then a checksum. It names its weights by their digest; it
is written after them and removed before them: a checkpoint is there as long as its state is.
Workers that hold parts of a model keep a third, which only they read: the *moments* of their
optimizers.

What a job writes may be anything: whoever reads it takes only what has this form, and no more of it
than the bounds below.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

MAGIC: Final = b"concertina checkpoint 2\n"
FORMER_MAGIC: Final = b"concertina checkpoint 1\n"  # of one file, which tells nothing of itself
FOOTER_BYTES: Final = len(MAGIC) + hashlib.sha256().digest_size
MOST_VALUES: Final = 100  # that a script logged
LONGEST_NAME: Final = 200  # letters, of such a value
START_WEIGHTS: Final = "model.safetensors"  # in the folder from which a job starts
START_STATE: Final = "training.pt"  # the same, if it goes on with all of the training

_LENGTH: Final = struct.Struct("<I")
_LONGEST: Final = 2**17  # bytes of JSON
_LARGEST: Final = 2**63 - 1
_STATE: Final = re.compile(
    r"step-(?P<step>\d{1,18})(\.epoch-(?P<epoch>\d{1,18}))?(\.start-(?P<start>\d{1,18}))?\.(pt|broken)"
)
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
SHOWN_DIGEST: Final = 16  # letters in a name; enough to tell the weights of one step apart


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CheckpointName:
    """Which checkpoint of its job; a later one is greater. See `state.checkpoints.checkpoint`."""

    epoch: int = 0  # of the database
    start: int = 0  # of the job
    step: int

    @classmethod
    def of(cls, file: str) -> Self | None:
        """Read the name of its state; None: this is none."""
        found = _STATE.fullmatch(file)
        return found and cls(**{key: int(value or 0) for key, value in found.groupdict().items()})

    @property
    def stem(self) -> str:
        of_epoch = f".epoch-{self.epoch}" if self.epoch else ""
        of_start = f".start-{self.start}" if self.start else ""
        return f"step-{self.step:012d}{of_epoch}{of_start}"

    @property
    def state(self) -> str:
        return f"{self.stem}.pt"

    def weights(self, digest: str) -> str:
        return f"{self.stem}.{digest[:SHOWN_DIGEST]}.safetensors"

    def moments(self, digest: str) -> str:
        """What optimizers remember by rows, of a model that no worker has all of."""
        return f"{self.stem}.{digest[:SHOWN_DIGEST]}.moments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """The newest that a script has logged under a name."""

    name: str
    value: float
    step: int  # after which it was logged


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDescription:
    """What a checkpoint tells of itself."""

    step: int  # optimizer steps since the job began
    samples: int = 0
    epoch: float = 0.0  # 1.5 = half way through the second one
    at: float = 0.0  # Unix seconds
    values: tuple[Value, ...] = ()
    weights_bytes: int = 0
    weights_digest: str = ""  # SHA-256 of the file, in hexadecimal

    def measured(self, metric: str) -> float | None:
        """Its value, if it was logged after this very step."""
        found = (one for one in self.values if one.name == metric and one.step == self.step)
        return next((one.value for one in found), None)

    def tail(self) -> bytes:
        """Return what the state ends with, before the checksum."""
        text = json.dumps(asdict(self), ensure_ascii=False).encode(errors="replace")
        return text + _LENGTH.pack(len(text))


def about(tail: bytes) -> tuple[CheckpointDescription, int]:
    """Read the end of a state, checksum included; also return how many of its bytes were read.

    Raises:
        ValueError: it is not one, or one of an earlier release.
    """
    rest, footer = tail[:-FOOTER_BYTES], tail[-FOOTER_BYTES:]
    if not footer.startswith(MAGIC) or len(rest) < _LENGTH.size:
        raise ValueError("no checkpoint")
    length = _LENGTH.unpack(rest[-_LENGTH.size :])[0]
    text = rest[-_LENGTH.size - length : -_LENGTH.size]
    if len(text) != length or length > _LONGEST:
        raise ValueError("its description is cut off")
    return _about(json.loads(text)), length + _LENGTH.size + FOOTER_BYTES


def read_about(descriptor: int) -> CheckpointDescription | None:
    """Read what an open state is about, without the state itself; None: of an earlier release.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no checkpoint.
    """
    size = os.fstat(descriptor).st_size
    longest = _LONGEST + _LENGTH.size + FOOTER_BYTES
    tail = os.pread(descriptor, longest, max(size - longest, 0))
    if tail[-FOOTER_BYTES:].startswith(FORMER_MAGIC):
        return None
    return about(tail)[0]


def _about(document: Any) -> CheckpointDescription:
    if not isinstance(document, dict):
        raise ValueError("its description is no mapping")  # noqa: TRY004 - of what was read
    digest, values = document.get("weights_digest"), document.get("values")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ValueError("its description names no weights")
    if not isinstance(values, list) or len(values) > MOST_VALUES:
        raise ValueError("its values are no list")
    return CheckpointDescription(
        step=_whole(document, "step"),
        samples=_whole(document, "samples"),
        epoch=_number(document, "epoch"),
        at=_number(document, "at"),
        values=tuple(_value(one) for one in values),
        weights_bytes=_whole(document, "weights_bytes"),
        weights_digest=digest,
    )


def _value(document: Any) -> Value:
    name = document.get("name") if isinstance(document, dict) else None
    if not isinstance(name, str) or len(name) > LONGEST_NAME or "\0" in name:
        raise ValueError("a value has no name")
    return Value(name=name, value=_number(document, "value"), step=_whole(document, "step"))


def _whole(document: Mapping[str, Any], field: str) -> int:
    value = document.get(field)
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise ValueError(f"{field} is no whole number")
    return value


def _number(document: Mapping[str, Any], field: str) -> float:
    value = document.get(field)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{field} is no number")  # noqa: TRY004 - of what was read
    try:
        number = float(value)
    except OverflowError as error:
        raise ValueError(f"{field} is no number") from error
    if not math.isfinite(number):
        raise ValueError(f"{field} is no number")
    return number
