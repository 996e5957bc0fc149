"""Does each class of the product have a name of its own, by which it can be found and spoken of?"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.architecture import written_documents
from tests.architecture.test_source_tree import ROOT, modules, tree_of

PRODUCT = ("autoscaler", "client", "jobs", "platform", "worker_image")
DJANGO_COMMANDS = "management/commands"  # Django looks for a class `Command` in each module there


def test_no_name_stands_for_two_classes() -> None:
    homes = defaultdict(list)
    for path in product_modules():
        for name in _classes_in(tree_of(path)):
            homes[name].append(str(path.relative_to(ROOT)))
    assert homes
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_a_class_in_a_class_is_known_by_both_names() -> None:
    tree = ast.parse("class Job:\n class Meta: ...\nclass Pool:\n class Meta: ...\n")
    assert list(_classes_in(tree)) == ["Job", "Job.Meta", "Pool", "Pool.Meta"]


def product_modules() -> Iterator[Path]:
    """Leave out what is written by program: that has the names and the sentences of the API."""
    for path in modules():
        is_product = path.relative_to(ROOT).parts[0] in PRODUCT
        is_command = path.parent.match(f"*/{DJANGO_COMMANDS}")
        if is_product and not is_command and path not in written_documents.written():
            yield path


def _classes_in(node: ast.Module | ast.ClassDef, within: str = "") -> Iterator[str]:
    for inner in node.body:
        if isinstance(inner, ast.ClassDef):
            yield within + inner.name
            yield from _classes_in(inner, f"{within}{inner.name}.")
