"""How are weights written so that everybody can read them? As safetensors: no code is in them.

The format is a length, a header in JSON and the tensors' bytes, one after the other. It is written
here, and not by its library, because images of jobs need not have that, and because tensors that
share memory (tied weights) are kept under each of their names: as models expect them.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch

from concertina_worker.state.checkpoints.written_file import BrokenCheckpointError, HashingFile

_LENGTH: Final = struct.Struct("<Q")
_ALIGNMENT: Final = 8
_NAMES: Final = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e5m2: "F8_E5M2",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint64: "U64",
    torch.uint32: "U32",
    torch.uint16: "U16",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_TYPES: Final = {name: dtype for dtype, name in _NAMES.items()}


def is_plain(value: object) -> bool:
    """True of what the format has room for."""
    return (
        type(value) in {torch.Tensor, torch.nn.Parameter}
        and isinstance(value, torch.Tensor)
        and value.layout == torch.strided
        and value.dtype in _NAMES
    )


def write(file: HashingFile, tensors: Mapping[str, torch.Tensor], about: Mapping[str, str]) -> None:
    """Write tensors that are plain, on the CPU, largest elements first: each is aligned then."""
    header, begins = header_of(tensors, about)
    file.write(header)
    for name in begins:
        flat = tensors[name].detach().contiguous().reshape(-1)
        file.write(flat.view(torch.uint8).numpy().data)


def header_of(
    tensors: Mapping[str, torch.Tensor], about: Mapping[str, str]
) -> tuple[bytes, dict[str, int]]:
    """Return what a file of these begins with, and at which of its bytes each tensor begins.

    Their values do not matter: they may be without, on PyTorch's device `meta`.
    """
    ordered = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    header: dict[str, Any] = {"__metadata__": dict(about)}
    begins, end = dict[str, int](), 0
    for name in ordered:
        tensor = tensors[name]
        begins[name], end = end, end + tensor.nbytes
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begins[name], end],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    first = _LENGTH.pack(len(text)) + text
    return first, {name: len(first) + begin for name, begin in begins.items()}


def tensors_in(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, int]]:
    """Return tensors without values, as a file has them, and at which of its bytes each begins.

    Raises:
        OSError: it cannot be read.
        BrokenCheckpointError: it is not what was written.
    """
    try:
        with path.open("rb") as file:
            (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
            entries = json.loads(file.read(min(length, path.stat().st_size)))
        entries.pop("__metadata__", None)
        begin = _LENGTH.size + length
        found = {
            name: torch.empty(entry["shape"], dtype=_TYPES[entry["dtype"]], device="meta")
            for name, entry in entries.items()
        }
        return found, {name: begin + entries[name]["data_offsets"][0] for name in found}
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenCheckpointError(f"its weights are no safetensors: {error}") from error


def read(path: Path, *, digest: str | None = None) -> dict[str, torch.Tensor]:
    """Read all of them; `digest`: the SHA-256 that the file must have.

    Raises:
        OSError: it cannot be read.
        BrokenCheckpointError: it is not what was written.
    """
    data = bytearray(path.stat().st_size)
    with path.open("rb") as file:
        read_bytes = file.readinto(data)
    if digest is not None and hashlib.sha256(data).hexdigest() != digest:
        raise BrokenCheckpointError("the checksum of its weights is wrong: the disk changed them")
    try:
        (length,) = _LENGTH.unpack_from(data)
        begin = _LENGTH.size + length
        header = json.loads(data[_LENGTH.size : begin])
        header.pop("__metadata__", None)
        return {name: _tensor(data, begin, entry) for name, entry in header.items()}
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"its weights are no safetensors: {error} ({read_bytes} bytes)"
        raise BrokenCheckpointError(problem) from error


def _tensor(data: bytearray, begin: int, entry: Mapping[str, Any]) -> torch.Tensor:
    dtype, shape = _TYPES[entry["dtype"]], entry["shape"]
    start, end = entry["data_offsets"]
    count = math.prod(shape)
    if end - start != count * dtype.itemsize or begin + end > len(data):
        raise ValueError("a tensor is cut off")
    if not count:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype, count=count, offset=begin + start).reshape(shape)
