"""Which values does each trial have? They follow from a seed and the trial's number; pure.

So trials can be made one after the other, by whomever, and a sweep that is submitted again tries
the same values.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from sweeps.search.terms import ParameterDraw, SweepTerms

_DIGITS: Final = 6  # that matter; more make names and tables hard to read


def values_of(terms: SweepTerms) -> Sequence[dict[str, Any]]:
    """Return the values of each trial, in the order of their numbers, no combination twice."""
    names = [*terms.parameters]
    if terms.combinations is not None:
        places = _places(terms.combinations, terms.number_of_trials, _chance(f"{terms.seed}"))
        return [_combination(terms, place) for place in places]
    return [
        {
            name: _drawn(terms.parameters[name], _chance(f"{terms.seed}/{number}/{name}"))
            for name in names
        }
        for number in range(1, terms.number_of_trials + 1)
    ]


def _places(combinations: int, count: int, chance: Random) -> Sequence[int]:
    """Return so many different ones of all combinations, of which there may be 1000 to the 20."""
    if combinations <= sys.maxsize:  # more than that a range cannot count
        return chance.sample(range(combinations), count)
    found: dict[int, None] = {}
    while len(found) < count:
        found[chance.randrange(combinations)] = None
    return [*found]


def _combination(terms: SweepTerms, place: int) -> dict[str, Any]:
    """Return one of all combinations, of which the last parameter changes first."""
    found = {}
    for name, draw in reversed(terms.parameters.items()):
        values = draw.choice or [None]
        place, which = divmod(place, len(values))
        found[name] = values[which]
    return {name: found[name] for name in terms.parameters}


def _drawn(draw: ParameterDraw, chance: Random) -> Any:
    if draw.uniform is not None:
        return _rounded(chance.uniform(*draw.uniform), draw.uniform)
    if draw.log_uniform is not None:
        low, high = map(math.log, draw.log_uniform)
        return _rounded(math.exp(chance.uniform(low, high)), draw.log_uniform)
    return chance.choice(draw.choice or [None])


def _rounded(number: float, bounds: Sequence[float]) -> float:
    """Return it with few digits, more where its bounds are close together, and within these."""
    low, high = bounds
    alike = max(abs(low), abs(high)) / (high - low)  # 10^5, of 1000000 and 1000010
    digits = _DIGITS + max(0, math.floor(math.log10(alike)))
    return min(max(float(f"{number:.{digits}g}"), low), high)


def _chance(seed: str) -> Random:
    return Random(seed)  # noqa: S311 - chance, no secret
