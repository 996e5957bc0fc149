"""In many processes: fork others that use PyTorch while threads meet for the first time.

Usage: `forking.py <tries>`.
"""

from __future__ import annotations

import os
import sys
import threading

import torch

from concertina_worker.collective.group import Group
from concertina_worker.state.transfer import send_or_receive
from tests.worker.gathering import a_plan, gather


def meet() -> None:
    def act(group: Group) -> None:
        group.sum(torch.ones(3))
        send_or_receive(group.handover, [torch.ones(2), torch.ones(2)], root=0)

    gather(a_plan("ab", "b"), act)


def fork_meanwhile() -> None:
    thread = threading.Thread(target=meet)
    thread.start()
    while thread.is_alive():
        if (pid := os.fork()) == 0:
            torch.rand(2).sum()
            os._exit(0)
        os.waitpid(pid, 0)


def main() -> None:
    for _ in range(int(sys.argv[1])):
        if (pid := os.fork()) == 0:
            fork_meanwhile()
            os._exit(0)
        assert os.waitpid(pid, 0) == (pid, 0)


if __name__ == "__main__":
    main()
