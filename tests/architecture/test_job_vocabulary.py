"""Has every event and every reason of a job its word in the vocabulary, and a sentence with it?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from autoscaler.job_vocabulary import EventKind, JobReason
from tests.architecture.written_vocabulary import written

ROOT: Final = Path(__file__).parents[2]
SAID_IN: Final = ("autoscaler", "jobs", "platform")
FIELDS: Final = {"kind", "reason"}
CODES: Final = {*map(str, EventKind), *map(str, JobReason)}
LONGEST_CODE: Final = 40  # characters of the columns
LONGEST_LABEL: Final = 30  # characters that a row of the dashboard has for it


@pytest.mark.parametrize("word", [*JobReason, *EventKind])
def test_a_word_has_a_code_that_fits_its_column_and_a_sentence_with_a_label(
    word: JobReason | EventKind,
) -> None:
    label, colon, meaning = word.sentence.partition(": ")
    assert word.value == word.name.lower()
    assert len(word.value) <= LONGEST_CODE
    assert (word.label, colon) == (label, ": ")
    assert label[0].isupper()
    assert 0 < len(label) <= LONGEST_LABEL
    assert meaning.endswith(".")


def test_no_two_words_of_a_kind_look_alike() -> None:
    for words in (JobReason, EventKind):
        assert len({word.label for word in words}) == len(words)


def test_a_code_is_found_again() -> None:
    assert JobReason("node_lost") is JobReason.NODE_LOST


def test_nobody_says_them_as_loose_strings() -> None:
    said = [
        f"{path.relative_to(ROOT)}:{line}: {code}"
        for folder in SAID_IN
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "migrations" not in path.parts
        for line, code in loose(ast.parse(path.read_text()))
    ]
    assert said == []


@pytest.mark.parametrize(
    "source",
    [
        "move(reason='node_lost')",
        "Event.objects.filter(kind__in=['worker_lost'])",
        "job.reason == 'completed'",
        "event.kind in {'preparing', 'submitted'}",
        "Event(kind='preparing' if is_new else KNOWN)",
    ],
)
def test_a_loose_string_is_seen(source: str) -> None:
    assert list(loose(ast.parse(source)))


def loose(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Codes written out where a `kind` or a `reason` is given, looked for or compared."""
    for node in ast.walk(tree):
        for place in _values(node):
            for one in ast.walk(place):
                if isinstance(one, ast.Constant) and one.value in CODES:
                    yield one.lineno, one.value


def _values(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.keyword) and (node.arg or "").partition("__")[0] in FIELDS:
        return [node.value]
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        names = {one.attr for one in sides if isinstance(one, ast.Attribute)}
        return sides if names & FIELDS else []
    return []


@pytest.mark.parametrize("path", written(), ids=lambda path: path.name)
def test_what_is_written_of_it_elsewhere_is_up_to_date(path: Path) -> None:
    assert path.read_text() == written()[path], "run `make openapi` and commit the result"
