"""What of a text that somebody else wrote may reach a terminal? Nothing that would steer it.

A job's lines, names, labels and reasons are other people's words. As control sequences they could
set the title, fill the clipboard, answer for the keyboard, or show a line backwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

# OSC, DCS, SOS, PM, APC: all up to their end; text if they have none. None begins in another:
# else each of many without an end would be looked through to the end of the line.
_STRING: Final = (
    r"(?:\x1b[\]P_^X]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
)
_COLOUR: Final = r"(?:\x1b\[|\x9b)[0-9;:]{0,64}m"  # SGR, which ends with the line
_CSI: Final = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
_ESCAPE: Final = r"\x1b[ -/]+[0-~]|\x1b[0-Z\\^-~]|\x1b"
_CONTROL: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]"
_DIRECTION: Final = r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # overrides, isolates, marks
_HARMFUL: Final = re.compile(f"{_STRING}|{_CSI}|{_ESCAPE}|{_CONTROL}|{_DIRECTION}")
_HARMFUL_BUT_COLOURS: Final = re.compile(
    "|".join((_STRING, f"(?P<colour>{_COLOUR})", _CSI, _ESCAPE, _CONTROL, _DIRECTION))
)
_NOT_IN_JSON: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff]|" + _DIRECTION)


def plain(text: str) -> str:
    """The text without anything that steers a terminal; tabs and line ends stay."""
    return _HARMFUL.sub("", text)


def coloured(text: str) -> str:
    """Make a text harmless as `plain` does, but keep its colours, for `Text.from_ansi` of rich."""
    return _HARMFUL_BUT_COLOURS.sub(lambda found: found["colour"] or "", text)


def json_text(text: str) -> str:
    """JSON as it is written for programs, which may show it: what would steer is escaped."""
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class HarmlessConsole(Console):
    """A console through which no text steers the terminal, whoever wrote it."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=plain(segment.text))
