"""How do weights become a file that `torch.load(weights_only=True)` reads? PyTorch writes it here.

It is the one thing in the client that needs PyTorch, and only if somebody asks for it.
"""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING, Any, Final

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_LENGTH: Final = struct.Struct("<Q")
_TYPES: Final = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}

_BROKEN: Final = (  # what reading makes of bytes that a job chose
    *(struct.error, ValueError, KeyError, TypeError, AttributeError, OverflowError),
    *(RecursionError, RuntimeError),
)


def check_possible() -> None:
    """Raises: BadInput, where there is no PyTorch."""
    _torch()


def write(safetensors: Path, into: Path) -> None:
    """Write what a file of safetensors holds as a `state_dict()`.

    Raises:
        BadInput: there is no PyTorch, or the file holds something else.
        OSError: it cannot be written.
    """
    torch = _torch()
    data = bytearray(safetensors.read_bytes())
    try:
        (length,) = _LENGTH.unpack_from(data)
        begin = _LENGTH.size + length
        header = json.loads(data[_LENGTH.size : begin])
        tensors = {
            name: _tensor(torch, data, begin, entry)
            for name, entry in header.items()
            if name != "__metadata__"
        }
    except _BROKEN as error:
        raise BadInput(f"These weights are no safetensors: {error}.") from error
    with into.open("wb") as file:
        torch.save(tensors, file)


def _torch() -> Any:
    try:
        import torch  # noqa: PLC0415 - large, and often not there
    except ImportError as error:
        raise BadInput(
            "A .pt file is written by PyTorch, which is not installed here. Ask for a file named"
            " .safetensors: that needs nothing."
        ) from error
    return torch


def _tensor(torch: Any, data: bytearray, begin: int, entry: Mapping[str, Any]) -> Any:
    dtype, count = getattr(torch, _TYPES[entry["dtype"]]), math.prod(entry["shape"])
    if not count:
        return torch.empty(entry["shape"], dtype=dtype)
    offset = begin + entry["data_offsets"][0]
    return torch.frombuffer(data, dtype=dtype, count=count, offset=offset).reshape(entry["shape"])
