"""What somebody else wrote reaches a terminal as text, never as orders."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.table import Table

from concertina.terminal.harmless import HarmlessConsole, coloured, json_text, plain

ORDERS = {
    "title": ("a\x1b]0;mine\x07b", "ab"),
    "clipboard": ("a\x1b]52;c;aGk=\x1b\\b", "ab"),
    "link": ("\x1b]8;;http://x\x07text\x1b]8;;\x07", "text"),
    "title without end": ("a\x1b]0;mine", "a]0;mine"),
    "title in C1": ("a\x9d0;mine\x9cb", "ab"),
    "string in a string without end": ("\x90a\x90b\x9cc", "ac"),
    "reset": ("a\x1bcb", "ab"),
    "alternate screen": ("a\x1b[?1049hb", "ab"),
    "cursor's place": ("a\x1b[6nb", "ab"),
    "CSI in C1": ("a\x9b31mb", "ab"),
    "device control": ("a\x1bP$q\x1b\\b", "ab"),
    "character set": ("a\x1b(0b", "ab"),
    "colour": ("a\x1b[31mb\x1b[0m", "ab"),
    "bell, backspace, return": ("a\x07\x08\rb", "ab"),
    "written backwards": ("a\u202egnp.exe\u2066", "agnp.exe"),
    "nothing": ("\tcafé 日本 \u2014", "\tcafé 日本 \u2014"),
}


@pytest.mark.parametrize(("given_text", "shown"), ORDERS.values(), ids=ORDERS)
def test_orders_to_a_terminal_are_dropped(given_text: str, shown: str) -> None:
    assert plain(given_text) == shown


def test_colours_stay_where_they_are_wanted() -> None:
    assert coloured("\x1b[1;31mred\x1b[0m\x1b[2J\x1b]0;t\x07") == "\x1b[1;31mred\x1b[0m"


@given(st.text(alphabet=st.sampled_from("\x1b[]0;m\x07\\\x9b\x9c\x90P?1hJ\r\u202eab"), max_size=30))
@example("\x1b\x1b]\x1b[")
def test_no_order_is_made_by_dropping_another(text: str) -> None:
    shown = plain(text)
    assert not [c for c in shown if unicodedata.category(c) == "Cc" or c == "\u202e"]
    assert plain(shown) == shown


def test_no_text_in_a_table_steers_the_terminal() -> None:
    file = io.StringIO()
    console = HarmlessConsole(file=file, width=40, force_terminal=True, color_system=None)
    table = Table("name")
    table.add_row("x\x1b]0;mine\x07y \x9b31m \u202e" + "z" * 60)
    console.print(table)
    console.print("plain\x1bc", style="bold")
    assert not {"\x1b]", "\x1bc", "\x9b", "\x07", "\u202e"} & set(file.getvalue())
    assert all(order not in file.getvalue() for order in ("\x1b]", "\x1bc", "\x9b", "\x07"))


@given(st.text(alphabet=st.characters(codec=None), max_size=20))
def test_json_for_programs_says_the_same_and_steers_nothing(text: str) -> None:
    shown = json_text(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs"}]
    shown.encode()
