"""What does a job's command say about its training? `simulated --samples 1000000 …`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, fields
from typing import Final, NoReturn

PROGRAM: Final = "simulated"


class UnknownCommandError(Exception):
    """Only `simulated` can be run on a simulated node."""


class BadOptionsError(Exception):
    """`simulated` has no such options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """The training behind a job; a step takes what its slowest share and the exchange take."""

    samples: int = 20_000_000  # of all epochs
    epoch_samples: int = 1_000_000
    sample_seconds: float = 0.002  # forward and backward of one sample
    exchange_seconds: float = 0.02  # of the gradients, with very many workers
    start_seconds: float = 3.0  # until a worker is there
    ready_seconds: float = 2.0  # until it has built its model
    switch_seconds: float = 1.0  # until a step ends at which all can switch
    stall_seconds: float = 0.2  # for which training stands still at a switch
    checkpoint_seconds: float = 30.0
    fails_after_seconds: float = 0.0  # mean time until a worker fails; 0: none does
    model_bytes: int = 100_000_000
    deaf: bool = False  # to a polite request to end

    def step_seconds(self, *, workers: int, batch: int) -> float:
        """Time of one step: `share · time of a sample + exchange · (n - 1) / n`."""
        share = -(-batch // workers)
        return share * self.sample_seconds + self.exchange_seconds * (workers - 1) / workers


def read(command: tuple[str, ...]) -> Behaviour:
    """Read the options of a command, which are the fields of `Behaviour`.

    Raises:
        UnknownCommandError, BadOptionsError: it cannot be simulated.
    """
    program, *options = command
    if program != PROGRAM:
        raise UnknownCommandError(f"{UnknownCommandError.__doc__} This is {program!r}.")
    parser = _Parser(prog=PROGRAM, add_help=False)
    for field in fields(Behaviour):
        name = "--" + field.name.replace("_", "-")
        if isinstance(field.default, bool):
            parser.add_argument(name, action="store_true")
        else:
            parser.add_argument(name, type=type(field.default), default=field.default)
    return Behaviour(**vars(parser.parse_args(options)))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadOptionsError(message)
