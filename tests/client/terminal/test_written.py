from __future__ import annotations

import csv
import io
import json

import pytest
import yaml

from concertina.errors import BadInput
from concertina.terminal.written import as_csv, as_json, as_yaml

STEERS = "\x1b]0;title\x07 \u202e backwards \x9b2J"
DOCUMENT = {"b": [1, 2.5, None], "a": {"text": "zwölf: - #", "yes": True}}


def test_yaml_says_the_same_as_json_in_the_same_order() -> None:
    assert yaml.safe_load(as_yaml(DOCUMENT)) == json.loads(as_json(DOCUMENT)) == DOCUMENT
    assert as_yaml(DOCUMENT).startswith("b:")
    assert "zwölf" in as_yaml(DOCUMENT)
    assert as_yaml(DOCUMENT, is_ascii=True).isascii()


def test_csv_has_a_line_for_each_and_a_column_for_whatever_any_has() -> None:
    rows = [{"name": "a, b", "n": 1, "inner": {"x": [1]}}, {"name": 'c "d"', "late": True}]
    found = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert found == [
        {"name": "a, b", "n": "1", "inner": '{"x": [1]}', "late": ""},
        {"name": 'c "d"', "n": "", "inner": "", "late": "true"},
    ]
    assert as_csv([]) == ""


def test_csv_of_what_is_no_list_is_refused() -> None:
    with pytest.raises(BadInput, match="Use -o json or -o yaml"):
        as_csv(DOCUMENT)


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_spreadsheet_calculates_nothing_that_others_wrote(formula: str) -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv([{"name": formula, "n": -1}])))
    assert row["name"].startswith("'") or not row["name"].startswith(("=", "+", "-", "@"))
    assert row["n"] == "-1"


def test_nothing_that_is_written_steers_a_terminal() -> None:
    document = [{"name": STEERS}]
    for written in (as_json(document), as_yaml(document), as_csv(document)):
        assert not set(written) & set("\x1b\x07\x9b\u202e")
