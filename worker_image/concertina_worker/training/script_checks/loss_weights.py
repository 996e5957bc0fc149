"""Does a loss give each sample its full weight, however many there are? Then it is a sum, no mean.

The graph of autograd tells how the loss was put together, and the gradient on its way through that
graph with which weight each part counts. Only what is known to be a sum counts as one: whatever
divides or averages, and whatever a mask or weights make small, may well be a mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from torch.autograd.graph import Node

MEAN, SUM = 1, 2  # torch's numbers for `reduction`
_MOST_NODES: Final = 100_000  # guessed: of a model with thousands of layers; trades a moment, once
_LINEAR: Final = re.compile(
    "Add|Sub|Rsub|Neg|ToCopy|Sum|Nansum|View|UnsafeView|ReshapeAlias|Reshape|Squeeze|Unsqueeze"
    "|Expand|Alias|Clone|Select|Slice|Index|IndexSelect|Gather|MaskedFill|MaskedSelect|Where|Stack"
    "|Cat|Permute|Transpose|T"
)
_OTHER_ELEMENTWISE: Final = re.compile("Mul|Div|Pow|Maximum|Minimum|Lerp|Addcmul")


def summed_parts(root: Node) -> Iterator[Node]:
    """Yield where the loss adds up samples' parts, with nothing that divides behind it.

    Parts that depend on parameters alone, as penalties on weights do, are none.
    """
    waiting, seen = [(root, False)], set[tuple[Node, bool]]()
    while waiting and len(seen) < _MOST_NODES:
        node, is_summed = waiting.pop()
        if (node, is_summed) in seen:
            continue
        seen.add((node, is_summed))
        kind, reduction = _kind(node), getattr(node, "_saved_reduction", None)
        if reduction == SUM:
            yield node
        elif reduction == MEAN or kind in {"Mean", "Div"}:
            continue
        elif kind == "Mul" and len({*_children(node)}) > 1:
            continue  # weights that are learned may well make a mean of it
        elif _LINEAR.fullmatch(kind) or (kind == "Mul" and len(_children(node)) == 1):
            is_sum = is_summed or kind in {"Sum", "Nansum"}
            waiting += [(child, is_sum) for child in _children(node)]
        elif is_summed and _depends_on_data(node):
            yield node


def _depends_on_data(root: Node) -> bool:
    """True if some operation below combines parameters with samples, which need no gradient."""
    waiting, seen = [root], set[Node]()
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        kind = _kind(node)
        takes_constants = any(child is None for child, _ in node.next_functions)
        is_elementwise = _LINEAR.fullmatch(kind) or _OTHER_ELEMENTWISE.fullmatch(kind)
        if kind.startswith("Embedding") or (takes_constants and not is_elementwise):
            return True
        waiting += _children(node)
    return False


def _children(node: Any) -> list[Node]:
    return [child for child, _ in node.next_functions if child is not None]


def _kind(node: Node) -> str:
    """`Addmm` of `AddmmBackward0`."""
    return node.name().rpartition("::")[2].partition("Backward")[0]
