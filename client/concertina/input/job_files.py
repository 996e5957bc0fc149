"""What does a job file say, and on which line does it say it?

YAML, of which JSON is a part. Every value's line is kept, so that a refusal of the service can
point into the file.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from concertina.errors import BadInput

STDIN: Final = "-"
_LAST_PART: Final = re.compile(r"(^[^.\[]+|\.[^.\[]*|\[\d+\])$")  # of "elastic.allowed_workers[2]"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """A job spec, or a document with many, with the place of each field."""

    name: str  # for messages
    spec: dict[str, Any]
    lines: dict[str, int] = field(default_factory=dict)  # "elastic.min_workers" -> 12

    def place(self, path: str) -> str:
        """Return `job.yaml:12`, say, for a field or the nearest part around it, or nothing."""
        while path:
            if path in self.lines:
                return f"{self.name}:{self.lines[path]}"
            shorter = _LAST_PART.sub("", path)
            path = shorter if shorter != path else ""
        return ""


def read(path: str) -> JobFile:
    """Read a job file; `-` is the standard input.

    A relative `workdir` is meant from the file's folder, wherever the command is typed.

    Raises:
        BadInput: it cannot be read, or is no mapping of fields; names line and column.
    """
    text, name = text_of(path)
    file = parse(text, name)
    settle_workdir(file.spec, path)
    return file


def settle_workdir(spec: dict[str, Any], path: str) -> None:
    """Let a spec's `workdir` be where it is seen from the file's folder."""
    workdir = spec.get("workdir")
    if isinstance(workdir, str):
        folder = Path() if path == STDIN else Path(path).parent
        spec["workdir"] = str((folder / workdir).resolve())


def parse(text: str, name: str) -> JobFile:
    """Read a text as `read` reads a file."""
    spec, lines = document_of(text, name)
    if not isinstance(spec, dict):
        raise BadInput(f"{name} must be a mapping of fields, like `name: value`.")
    return JobFile(name=name, spec=spec, lines=lines)


def document_of(text: str, name: str) -> tuple[Any, dict[str, int]]:
    """Return the value of a text, and the line of each of its fields.

    Raises:
        BadInput: it is empty, or no YAML that JSON could say too.
    """
    from concertina.input import yaml_documents  # noqa: PLC0415 - YAML takes a while to load

    return yaml_documents.document_of(text, name)


def text_of(path: str) -> tuple[str, str]:
    """What is in a file, and what messages call it; `-` is the standard input.

    Raises:
        BadInput: it cannot be read.
    """
    name = "standard input" if path == STDIN else path
    try:
        return sys.stdin.read() if path == STDIN else Path(path).read_text(encoding="utf-8"), name
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not text: byte {error.start} is not UTF-8.") from error
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}.") from error
