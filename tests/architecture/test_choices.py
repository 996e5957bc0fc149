"""Is each choice between words written down once? Two lists of the same words drift apart."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.architecture.test_class_names import product_modules
from tests.architecture.test_source_tree import ROOT, tree_of

ENUMS = {"CodedWord", "StrEnum", "TextChoices"}
FEWEST_WORDS = 3  # pairs such as min and max are choices of many things


def test_no_choice_is_written_down_twice() -> None:
    homes = defaultdict(list)
    for path in product_modules():
        for node in ast.walk(tree_of(path)):
            words = frozenset(_words_of(node))
            if len(words) >= FEWEST_WORDS:
                homes[words].append(f"{path.relative_to(ROOT)}:{node.lineno}")  # type: ignore[attr-defined]
    assert homes
    assert {tuple(words): places for words, places in homes.items() if len(places) > 1} == {}


def test_enums_and_literals_are_choices() -> None:
    enum = ast.parse('class Mode(models.TextChoices):\n A = "a", "a: first"\n B = "b"').body[0]
    literal = ast.parse('Literal["b", "a"]', mode="eval").body
    assert set(_words_of(enum)) == set(_words_of(literal)) == {"a", "b"}


def _words_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ClassDef(bases=bases, body=body):
            if ENUMS & {ast.unparse(base).rpartition(".")[2] for base in bases}:
                for line in body:
                    if isinstance(line, ast.Assign):
                        yield from _words(line.value, most=1)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=words):
            yield from _words(words)


def _words(node: ast.expr, most: int | None = None) -> Iterator[str]:
    """Yield the strings of a tuple, or the one that is no tuple."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    for part in parts[:most]:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
