"""How does a worker of a test die at one precise moment? A file tells it when.

`watch_for` wraps what the runtime calls at each of `MOMENTS`. Once a test has written a doom (a
moment, how often it is to be passed, and how to fail) the worker ends itself there, with SIGKILL,
so that nothing of it can clean up. Only test scripts import this: the runtime has no such code.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import torch

from concertina_worker.collective.group import Group
from concertina_worker.membership.coordinator_link import coordinator_line
from concertina_worker.membership.entering import Entrance
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.state.checkpoints import written_file
from concertina_worker.state.handover import Handover
from concertina_worker.training.loop import TrainingLoop

MOMENTS: Final[dict[str, tuple[Any, str]]] = {
    "forward": (torch.nn.Linear, "forward"),
    "backward": (torch.Tensor, "backward"),
    "reduce": (Group, "start_sum"),
    "rows": (Group, "all_to_all"),
    "step": (torch.optim.SGD, "step"),
    "commit": (WorkerMembership, "decide"),
    "between steps": (WorkerMembership, "turn"),
    "checkpoint": (written_file.os, "fsync"),
    "joining": (WorkerMembership, "enter"),
    "building": (coordinator_line, "build"),
    "exchanged": (WorkerMembership, "stop_handover"),
    "switch": (Entrance, "switch"),
    "transfer": (Handover, "send"),
    "receiving": (Handover, "receive"),
    "between portions": (Handover, "go_on"),
    "mean": (WorkerMembership, "mean"),
    "between epochs": (TrainingLoop, "begin_epoch"),
}


def watch_for(doom: Path) -> None:
    """Wrap every moment; costs a look at the file at each passing."""
    for moment, (place, name) in MOMENTS.items():
        setattr(place, name, _passing(moment, getattr(place, name), _Doom(doom, moment)))


class _Doom:
    """What is written in the file, as far as it concerns one moment."""

    def __init__(self, path: Path, moment: str) -> None:
        self._path = path
        self._moment = moment
        self._passed = 0

    def strikes(self) -> str:
        """How to fail now; empty: not yet, or never."""
        if not self._path.exists():
            return ""
        wish = json.loads(self._path.read_text())
        if wish["moment"] != self._moment:
            return ""
        self._passed += 1
        return str(wish["way"]) if self._passed == wish["passing"] else ""


def _passing(moment: str, original: Callable[..., Any], doom: _Doom) -> Callable[..., Any]:
    """Die half way through a backward pass; at other moments just before, in `reduce` after."""

    def wrapped(*arguments: Any, **options: Any) -> Any:
        way = doom.strikes()
        if way and moment == "backward":
            arguments[0].register_hook(lambda _: _fail(way))
        elif way and moment == "reduce":
            original(*arguments, **options)
            _fail(way)
        elif way == "lose the group":  # as when a neighbour's last bytes did not arrive
            return False
        elif way:
            _fail(way)
        return original(*arguments, **options)

    return wrapped


def _fail(way: str) -> None:
    match way:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "hang":
            threading.Event().wait()
