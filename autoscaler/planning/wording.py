"""How are counts, shares and names put into words?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.outcome import Outcome

_ORDINALS = {2: "2nd", 3: "3rd"}
_NAMED_AT_MOST = 3


def gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def names(outcomes: Sequence[Outcome]) -> str:
    """Job names as a list in a sentence; of many, the first few and how many more."""
    all_names = [outcome.demand.job.name for outcome in outcomes]
    shown, more = all_names[:_NAMED_AT_MOST], len(all_names) - _NAMED_AT_MOST
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def plural(count: int, one: str, many: str) -> str:
    """The verb that fits the count: `plural(1, "gives", "give")`."""
    return one if count == 1 else many


def one_more(held: int, larger: int) -> str:
    """The next size up: `a 3rd worker`, or `8 workers` where it is more than one step."""
    if larger == held + 1:
        return f"a {_ORDINALS.get(larger, f'{larger}th')} worker"
    return workers(larger)


def speed_up(gain: float) -> str:
    if round(100 * gain) > 0:
        return f"speed it up by {percent(gain)}"
    if round(100 * gain) < 0:
        return f"slow it down by {percent(-gain)}"
    return "not speed it up"


def changes_speed(gain: float) -> str:
    if round(100 * gain) > 0:
        return f"{percent(gain)} faster"
    if round(100 * gain) < 0:
        return f"{percent(-gain)} slower"
    return "as fast as before"
