"""Which commands does a shell script have, and where does each of their words stand?

It is read as a shell would: with quotes, substitutions, comments, here-documents, continued lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from concertina.errors import BadInput

_GAP: Final = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_HERE: Final = re.compile(r"\d*<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s<>;&|()'\"]+))")
_REDIRECTION: Final = re.compile(r"\d*(?:&>>?|>&|<&|>>|>\||<<<|<>|>|<)")
_ENDS_A_WORD: Final = frozenset(" \t\r\f\v\n;&|()<>")


@dataclass(frozen=True, slots=True)
class ScriptWord:
    """A word as it is written, in one line, and from where to where in the script."""

    text: str
    start: int
    end: int


def commands(script: str) -> list[list[ScriptWord]]:
    """Return the words of each command, those of loops and conditions among them.

    Raises:
        BadInput: it is nested deeper than anybody writes.
    """
    try:
        return _ScriptReader(script).read()
    except RecursionError as error:
        raise BadInput("The script nests its quotes and brackets too deeply.") from error


class _ScriptReader:
    """Goes once through a script."""

    def __init__(self, script: str) -> None:
        self._script = script
        self._place = 0
        self._words: list[ScriptWord] = []
        self._found: list[list[ScriptWord]] = []
        self._awaited: list[tuple[str, bool]] = []  # ends of here-documents; whether tabs may lead

    def read(self) -> list[list[ScriptWord]]:
        while self._place < len(self._script):
            self._step()
        self._end_command()
        return self._found

    def _step(self) -> None:
        script, place = self._script, self._place
        letter = script[place]
        if gap := _GAP.match(script, place):
            self._place = gap.end()
        elif letter == "\n":
            self._end_command()
            self._place = place + 1
            self._pass_documents()
        elif letter == "#":
            self._place = _end_of_line(script, place)
        elif not script.startswith("<<<", place) and (here := _HERE.match(script, place)):
            end = here[2] if here[2] is not None else here[3] if here[3] is not None else here[4]
            self._awaited.append((end, bool(here[1])))
            self._place = here.end()
        elif redirection := _REDIRECTION.match(script, place):
            self._place = redirection.end()
        elif letter in _ENDS_A_WORD:
            self._end_command()
            self._place = place + 1
        else:
            self._place = _end_of_word(script, place)
            text = script[place : self._place].replace("\\\n", "")
            self._words.append(ScriptWord(text, place, self._place))

    def _end_command(self) -> None:
        if self._words:
            self._found.append(self._words)
        self._words = []

    def _pass_documents(self) -> None:
        for end, may_have_tabs in self._awaited:
            while self._place < len(self._script):
                line_end = _end_of_line(self._script, self._place)
                line = self._script[self._place : line_end]
                self._place = line_end + 1
                if (line.lstrip("\t") if may_have_tabs else line) == end:
                    break
        self._awaited = []


def _end_of_line(script: str, place: int) -> int:
    end = script.find("\n", place)
    return len(script) if end < 0 else end


def _end_of_word(script: str, place: int) -> int:
    while place < len(script) and script[place] not in _ENDS_A_WORD:
        place = _after(script, place)
    return min(place, len(script))


def _after(script: str, place: int) -> int:
    """Return where it goes on behind a letter, or behind all that a quote or bracket holds."""
    letter = script[place]
    if letter == "\\":
        return place + 2
    if letter in "'`":
        end = script.find(letter, place + 1)
        return len(script) if end < 0 else end + 1
    if letter == '"':
        return _behind(script, place + 1, '"')
    if script.startswith(("$(", "${"), place):
        return _behind(script, place + 2, ")" if script[place + 1] == "(" else "}")
    return place + 1


def _behind(script: str, place: int, closing: str) -> int:
    while place < len(script) and script[place] != closing:
        if closing == '"' and script[place] == "'":
            place += 1  # a plain letter between such quotes
        elif closing == ")" and script[place] == "(":
            place = _behind(script, place + 1, ")")
        else:
            place = _after(script, place)
    return place + 1
