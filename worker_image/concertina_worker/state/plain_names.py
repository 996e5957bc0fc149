"""What is a parameter called, whatever the script has wrapped around its model? And do two fit?

`DistributedDataParallel`, or what stands for it, and `torch.compile` put a word in front of the
names in `state_dict()`. Weights that others read, or that another script begins with, go without.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

import torch

_WRAPPERS: Final = {"DistributedModel": "module", "OptimizedModule": "_orig_mod"}
_NAMED: Final = 5  # that do not fit; more are counted


def plain_names(model: torch.nn.Module) -> dict[str, str]:
    """Map names in `state_dict()`; should two become one without their wrappers, all stay."""
    wrapped = [
        (f"{name}.{word}." if name else f"{word}.", f"{name}." if name else "")
        for name, module in model.named_modules()
        if (word := _WRAPPERS.get(type(module).__name__))
    ]
    innermost_first = sorted(wrapped, key=lambda one: -len(one[0]))
    found = {name: _without(name, innermost_first) for name in model.state_dict()}
    return found if len({*found.values()}) == len(found) else {name: name for name in found}


def skipped_names(patterns: Collection[str], names: Collection[str]) -> set[str]:
    """Return the names that a pattern, such as `head.*`, stands for.

    Raises:
        WeightsMismatchError: one stands for none, so it is likely written wrong.
    """
    found = set[str]()
    for pattern in patterns:
        matching = {name for name in names if fnmatchcase(name, pattern)}
        if not matching:
            known = ", ".join(sorted(names)[:_NAMED])
            raise WeightsMismatchError(
                f"start_from.skip has {pattern!r}, which is the name of no weights on either side;"
                f" there are {known} and so on"
            )
        found |= matching
    return found


def check_fit(own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Compare two sets of weights by plain names. Raises WeightsMismatchError."""
    other_shape = [
        f"{name} has {_shape(given[name])}, here {_shape(own[name])}"
        for name in own
        if name in given and given[name].shape != own[name].shape
    ]
    found = [
        *_told("of another shape", other_shape),
        *_told("not among those weights", [name for name in own if name not in given]),
        *_told("unknown to this model", [name for name in given if name not in own]),
    ]
    if found:
        raise WeightsMismatchError("; ".join(found))


def _without(name: str, wrapped: Collection[tuple[str, str]]) -> str:
    for prefix, plain in wrapped:
        if name.startswith(prefix):
            name = plain + name.removeprefix(prefix)
    return name


def _shape(tensor: torch.Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "one number"


def _told(what: str, names: list[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{what}: {', '.join(names[:_NAMED])}{more}"


class WeightsMismatchError(Exception):
    """The weights that this job starts from are not those of the model that its script makes."""

    def __init__(self, difference: str) -> None:
        super().__init__(
            f"The weights of start_from do not fit the model that the script makes: {difference}."
            " Make the same model, or name what is to stay as the script makes it in"
            " start_from.skip, such as head.*"
        )
