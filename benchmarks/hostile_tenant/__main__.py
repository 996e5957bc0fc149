"""Run the rounds and say how much worse it is under attack: see the package."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import hostile_tenant
from benchmarks.hostile_tenant import attack
from benchmarks.hostile_tenant.ground import Ground, prepared
from benchmarks.hostile_tenant.measuring import Measured

MOST = {"first_step": 1.5, "ticks": 2.0}  # times what it is in peace
KINDS = ("queue", "floods", *attack.KINDS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=hostile_tenant.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--submits", type=int, default=3, help="in each half of a round")
    parser.add_argument("--queued", type=int, default=900, help="hostile jobs that wait")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--nice", type=int, default=19, help="of attackers and hostile jobs")
    told = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and take the stack along
    with tempfile.TemporaryDirectory(prefix="concertina-hostile-") as folder:
        say("Starting a stack of its own, and filling its queue…")
        queued = told.queued if "queue" in told.only else 0
        with prepared(Path(folder), queued=queued, nice=told.nice) as ground:
            peace, attacked = Measured(), Measured()
            for number in range(told.rounds):
                peace.take(ground, told.submits, f"peace-{number}")
                with ground.attacked(tuple(told.only)):
                    attacked.take(ground, told.submits, f"attacked-{number}")
                say(f"round {number + 1} of {told.rounds} is over: " + in_short(peace, attacked))
            is_well = report(peace, attacked, ground)
    sys.exit(0 if is_well else 1)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def in_short(peace: Measured, attacked: Measured) -> str:
    return ", ".join(
        f"{name} {median(getattr(peace, name)):.2f} → {median(getattr(attacked, name)):.2f} s"
        for name in ("accepted", "first_step", "ticks")
    )


def report(peace: Measured, attacked: Measured, ground: Ground) -> bool:
    """Print it all; False: something is worse than it may be."""
    print(f"\nload average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(f"\n{'seconds':<24}{'in peace':>18}{'under attack':>18}{'ratio of':>10}{'may be':>8}")
    print(f"{'':<24}{'median':>9}{'max':>9}{'median':>9}{'max':>9}{'medians':>10}")
    is_well = True
    for name, title in (
        ("accepted", "submit → accepted"),
        ("first_step", "submit → first step"),
        ("ticks", "a tick"),
    ):
        before, after = getattr(peace, name), getattr(attacked, name)
        ratio, most = median(after) / median(before), MOST.get(name)
        columns = "".join(f"{median(one):>9.2f}{max(one):>9.2f}" for one in (before, after))
        bound = "" if most is None else f"{most:g}"
        print(f"{title:<24}{columns}{ratio:>10.2f}{bound:>8}")
        is_well = is_well and (most is None or ratio <= most)
    print(f"\n{'cores used by':<24}{'in peace':>18}{'under attack':>18}")
    for name in sorted(peace.processor):
        shares = (one.processor[name] / one.seconds for one in (peace, attacked))
        print(f"{name:<24}" + "".join(f"{share:>18.3f}" for share in shares))
    print("\nhow the attackers were answered")
    for kind, counts in sorted(ground.answered().items()):
        print(f"{kind:<12}" + ", ".join(f"{how}: {n}" for how, n in counts.most_common()))
    print(f"\n{'Within' if is_well else 'BEYOND'} what it may be.")
    return is_well


if __name__ == "__main__":
    main()
