"""How does state get from one worker to others? A small header, then the tensors in place.

The header holds everything that is no tensor of the model or optimizer, and the shape of the
optimizer's state, so that the receiver can make room for it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch

from concertina_worker.collective.group import broadcast
from concertina_worker.state.checkpoints import former_names

SMALL_BYTES: Final = 64 * 2**10  # tensors below this travel together
PACKET_BYTES: Final = 4 * 2**20


def send_header(process_group: Any, header: dict[str, Any], *, root: int) -> None:
    stream = io.BytesIO()
    torch.save(header, stream)
    content = torch.frombuffer(bytearray(stream.getbuffer()), dtype=torch.uint8)
    broadcast(process_group, torch.tensor([content.numel()]), root=root)
    broadcast(process_group, content, root=root)


def receive_header(process_group: Any, *, root: int) -> dict[str, Any]:
    size = torch.zeros(1, dtype=torch.int64)
    broadcast(process_group, size, root=root)
    content = torch.empty(int(size), dtype=torch.uint8)
    broadcast(process_group, content, root=root)
    # Extras may be objects of any class; the sender is a worker of the same job, perhaps of an
    # earlier release.
    header: dict[str, Any] = torch.load(
        io.BytesIO(content.numpy().tobytes()), weights_only=False, pickle_module=former_names
    )
    return header


def send_or_receive(process_group: Any, tensors: Sequence[torch.Tensor], *, root: int) -> None:
    """All members call this with tensors of the same shapes; afterwards all hold the root's.

    Works on the plain data: autograd does not see that it changed.
    """
    for packet in _packets([tensor.data for tensor in tensors]):
        if len(packet) == 1 and packet[0].is_contiguous():
            broadcast(process_group, packet[0], root=root)
        else:
            _broadcast_together(process_group, packet, root=root)


def _packets(tensors: Sequence[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
    """Large tensors alone, runs of small ones of one dtype and device together."""
    packet: list[torch.Tensor] = []
    for tensor in tensors:
        if packet and not _fits(packet, tensor):
            yield packet
            packet = []
        packet.append(tensor)
    if packet:
        yield packet


def _fits(packet: list[torch.Tensor], tensor: torch.Tensor) -> bool:
    first = packet[0]
    return (
        (first.dtype, first.device) == (tensor.dtype, tensor.device)
        and max(first.nbytes, tensor.nbytes) < SMALL_BYTES
        and sum(member.nbytes for member in packet) < PACKET_BYTES
    )


def _broadcast_together(process_group: Any, packet: list[torch.Tensor], *, root: int) -> None:
    flat = torch.cat([tensor.reshape(-1) for tensor in packet])
    broadcast(process_group, flat, root=root)
    for tensor, part in zip(packet, torch.split(flat, [t.numel() for t in packet]), strict=True):
        tensor.copy_(part.view_as(tensor))
