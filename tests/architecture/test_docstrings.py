"""Do docstrings begin as sentences do, or with a piece that hangs on the name above it?"""

from __future__ import annotations

import ast

from tests.architecture.test_class_names import product_modules
from tests.architecture.test_source_tree import ROOT, tree_of

HANGING = {
    *("After", "Around", "As", "At", "Before", "Behind", "By", "For", "From", "In", "Like", "Of"),
    *("On", "Once", "Over", "Through", "To", "Under", "Until", "Whether", "While", "With"),
    "Without",
}
"""Words with which a reader has to find out first of what something is said."""
QUESTIONING = {"How", "When", "Where", "Which", "Who", "Whose", "Why"}
"""What a class stands for can begin so, or a question; what a function does cannot."""


def test_no_docstring_begins_in_the_middle_of_a_sentence() -> None:
    in_the_middle = {
        f"{path.relative_to(ROOT)}:{node.lineno}": told
        for path in product_modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if (told := ast.get_docstring(node)) and _begins_in_the_middle(node, told)
    }
    assert in_the_middle == {}


def _begins_in_the_middle(node: ast.AST, told: str) -> bool:
    word = told.split(maxsplit=1)[0].rstrip(",.:;")
    is_question = "?" in told.partition("\n\n")[0]
    is_clause = word in QUESTIONING and not is_question and not isinstance(node, ast.ClassDef)
    return word in HANGING or is_clause
