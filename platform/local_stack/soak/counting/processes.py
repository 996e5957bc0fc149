"""What has each process of a stack spent so far, and what does it hold? Read from `/proc`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from local_stack import stack_record
from local_stack.checkout import Checkout


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    """What a process uses with all below it."""

    processor_seconds: float  # since it began, with children that have ended
    memory_bytes: int  # proportional set size: shared pages count in parts
    threads: int


def usages(checkout: Checkout, *, with_memory: bool = True) -> dict[str, ProcessUsage]:
    """The processes of the stack by name; to look at their memory takes a while."""
    record = stack_record.current(checkout)
    found = {}
    for one in record.processes if record else ():
        try:
            found[one.name] = _usage(psutil.Process(one.pid), with_memory=with_memory)
        except psutil.Error:  # it ended while we looked
            continue
    return found


@contextmanager
def standing_still(checkout: Checkout, name: str) -> Iterator[None]:
    """Within, a process of the stack and all below it are stopped, so that it costs nothing."""
    record = stack_record.current(checkout)
    named = (one.pid for one in record.processes if one.name == name) if record else ()
    stopped = [process for pid in named for process in _tree(psutil.Process(pid))]
    try:
        for process in stopped:
            process.suspend()
        yield
    finally:
        for process in stopped:
            process.resume()


def _usage(root: psutil.Process, *, with_memory: bool) -> ProcessUsage:
    seconds, memory, threads = 0.0, 0, 0
    for process in _tree(root):
        try:
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
            memory += process.memory_full_info().pss if with_memory else 0
            threads += process.num_threads()
        except psutil.Error:
            continue
    return ProcessUsage(processor_seconds=seconds, memory_bytes=memory, threads=threads)


def _tree(root: psutil.Process) -> Iterator[psutil.Process]:
    yield root
    yield from root.children(recursive=True)
