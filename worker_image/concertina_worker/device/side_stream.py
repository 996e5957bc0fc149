"""How does a thread use a GPU without standing in the training's way? On a stream of its own.

What one thread asks of a GPU on the common stream waits for all that training has asked before,
and training waits for it in turn. On the CPU there is nothing to separate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch


class SideStream:
    """A stream beside the training of one GPU; it sees tensors as training has left them so far."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        device = next((tensor.device for tensor in tensors if tensor.is_cuda), None)
        self._stream = torch.cuda.Stream(device) if device else None
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(device))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the calling thread use the stream; what it asked for inside is done at the end."""
        if self._stream is None:
            yield
            return
        with torch.cuda.stream(self._stream):
            yield
        self._stream.synchronize()
