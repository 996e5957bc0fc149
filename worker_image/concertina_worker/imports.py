"""What does every training script load, sooner or later? The zygote imports this module.

Half of PyTorch is imported only when an optimizer is first made.
"""

from __future__ import annotations

import torch

import concertina_worker.wiring
from concertina_worker.rehearsal import rehearse

__all__ = ["concertina_worker"]

torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))])
rehearse()
