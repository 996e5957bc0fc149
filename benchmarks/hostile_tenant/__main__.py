"""Run the rounds and say how much worse it is under attack: see the package."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from statistics import median

from benchmarks import hostile_tenant
from benchmarks.hostile_tenant import attack
from benchmarks.hostile_tenant.ground import Ground, prepared
from benchmarks.hostile_tenant.measuring import Measured

MOST = {"first_step": 1.5, "ticks": 2.0}  # times what it is in peace
HALVES = (attrgetter("peace"), attrgetter("attacked"))
KINDS = ("queue", "floods", *attack.KINDS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=hostile_tenant.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=8.0, help="no round begins after them")
    parser.add_argument("--submits", type=int, default=3, help="in each half of a round")
    parser.add_argument("--queued", type=int, default=200, help="hostile jobs that wait")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--nice", type=int, default=19, help="of attackers and hostile jobs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and take the stack along
    with tempfile.TemporaryDirectory(prefix="concertina-hostile-") as folder:
        say("Starting a stack of its own, and filling its queue…")
        queued = arguments.queued if "queue" in arguments.only else 0
        with prepared(Path(folder), queued=queued, nice=arguments.nice) as ground:
            ends_at = time.monotonic() + 60 * arguments.minutes
            rounds: list[Round] = []
            while len(rounds) < arguments.rounds and (not rounds or time.monotonic() < ends_at):
                # In turn the one and the other comes first: what grows meanwhile harms both alike.
                rounds.append(measured(ground, arguments, len(rounds)))
                say(f"round {len(rounds)} of {arguments.rounds} is over: " + in_short(rounds[-1]))
            is_well = report(rounds, ground)
    sys.exit(0 if is_well else 1)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Round:
    """Both halves of it, right after each other, so that a busy machine harms both."""

    peace: Measured = field(default_factory=Measured)
    attacked: Measured = field(default_factory=Measured)

    def ratio(self, name: str) -> float:
        return float(median(getattr(self.attacked, name)) / median(getattr(self.peace, name)))


def measured(ground: Ground, arguments: argparse.Namespace, number: int) -> Round:
    one = Round()

    def in_peace() -> None:
        one.peace.take(ground, arguments.submits, f"peace-{number}")

    def under_attack() -> None:
        with ground.attacked(tuple(arguments.only)):
            one.attacked.take(ground, arguments.submits, f"attacked-{number}")

    for half in (in_peace, under_attack) if number % 2 == 0 else (under_attack, in_peace):
        half()
    return one


def in_short(one: Round) -> str:
    changes = []
    for name in ("accepted", "first_step", "ticks"):
        peace, attacked = (median(getattr(half(one), name)) for half in HALVES)
        changes.append(f"{name} {peace:.2f} → {attacked:.2f} s")
    return ", ".join(changes)


def cores(halves: Iterable[Measured], name: str) -> float:
    some = list(halves)
    return float(sum(one.processor[name] for one in some) / sum(one.seconds for one in some))


def report(rounds: list[Round], ground: Ground) -> bool:
    """Print it all; False: something is worse than it may be."""
    print(f"\nload average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, {len(rounds)} rounds")
    print(
        f"\n{'seconds':<24}{'in peace':>18}{'under attack':>18}{'ratio by round':>24}{'limit':>8}"
    )
    print(
        f"{'':<24}{'median':>9}{'max':>9}{'median':>9}{'max':>9}{'least':>8}{'median':>8}{'most':>8}"
    )
    is_well = True
    for name, title in (
        ("accepted", "submit → accepted"),
        ("first_step", "submit → first step"),
        ("ticks", "a tick"),
    ):
        halves = [[n for one in rounds for n in getattr(half(one), name)] for half in HALVES]
        ratios, most = [one.ratio(name) for one in rounds], MOST.get(name)
        columns = "".join(f"{median(one):>9.2f}{max(one):>9.2f}" for one in halves)
        columns += "".join(f"{one:>8.2f}" for one in (min(ratios), median(ratios), max(ratios)))
        print(f"{title:<24}{columns}{'' if most is None else f'{most:g}':>8}")
        is_well = is_well and (most is None or median(ratios) <= most)
    print(f"\n{'cores used by':<24}{'in peace':>18}{'under attack':>18}")
    for name in sorted(rounds[0].peace.processor):
        print(
            f"{name:<24}" + "".join(f"{cores(map(half, rounds), name):>18.3f}" for half in HALVES)
        )
    print("\nhow the attackers were answered")
    for kind, counts in sorted(ground.answered().items()):
        print(f"{kind:<12}" + ", ".join(f"{how}: {n}" for how, n in counts.most_common()))
    print(f"\n{'Within' if is_well else 'BEYOND'} what it may be.")
    return is_well


if __name__ == "__main__":
    main()
