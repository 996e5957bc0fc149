"""How is one environment variable read? It is typed; a complaint names it and says what to do.

A secret may also be in a file: `<NAME>_FILE` names it, as Docker and Kubernetes provide them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BYTES_BY_UNIT: Final[dict[str, int]] = {"B": 1} | {
    unit: base**power
    for base, names in ((1000, "KB MB GB TB"), (1024, "KiB MiB GiB TiB"))
    for power, unit in enumerate(names.split(), start=1)
}
_SIZE: Final = re.compile(rf"([0-9]{{1,15}}) ?({'|'.join(BYTES_BY_UNIT)}|)")


class BadEnvironment(Exception):
    """An environment variable is missing or does not fit."""


@dataclass(frozen=True, slots=True)
class EnvironmentVariables:
    """The environment. Every reader raises `BadEnvironment`; an empty variable counts as unset.

    A complaint about a secret never contains its value.
    """

    environ: Mapping[str, str]

    def text(self, name: str, *, default: str) -> str:
        return self.environ.get(name) or default

    def secret(self, name: str) -> str:
        """Read the variable itself, or the file of `<name>_FILE`; one of them is required."""
        value, path = self._secret_or_file(name)
        if path and not (value := _content(f"{name}_FILE", Path(path))):
            raise BadEnvironment(
                f"{name}_FILE={path!r}: the file is empty. Write the value into it."
            )
        if not value:
            raise BadEnvironment(
                f"{name} is not set. Set it, or {name}_FILE to a file that holds it;"
                " `./dev up` sets it for a local run."
            )
        return value

    def secrets(self, name: str) -> tuple[str, ...]:
        """Read secrets, separated by spaces or line breaks; an empty file holds none."""
        value, path = self._secret_or_file(name)
        return tuple((_content(f"{name}_FILE", Path(path)) if path else value).split())

    def _secret_or_file(self, name: str) -> tuple[str, str]:
        """Return the value, or the path of its file; at most one of them is not empty."""
        value, path = self.environ.get(name, ""), self.environ.get(f"{name}_FILE", "")
        if value and path:
            raise BadEnvironment(f"{name} and {name}_FILE are both set. Remove one of them.")
        return value, path

    def boolean(self, name: str, *, default: bool) -> bool:
        value = self.environ.get(name, "").lower()
        if value in {"", "1", "0", "true", "false", "yes", "no"}:
            return value in {"1", "true", "yes"} if value else default
        raise BadEnvironment(f"{name}={value!r}: use true or false.")

    def seconds(self, name: str, *, default: float, at_most: float = math.inf) -> float:
        raw = self.text(name, default=str(default))
        try:
            value = float(raw)
        except ValueError:
            value = 0.0
        if 0 < value <= at_most:
            return value
        bound = "" if at_most == math.inf else f" and up to {at_most:g}"
        raise BadEnvironment(f"{name}={raw!r}: use a number above 0{bound}, in seconds.")

    def whole(self, name: str, *, default: int, at_least: int, at_most: int | None = None) -> int:
        raw = self.text(name, default=str(default))
        if raw.isdecimal() and at_least <= int(raw) and (at_most is None or int(raw) <= at_most):
            return int(raw)
        until = "" if at_most is None else f" to {at_most}"
        raise BadEnvironment(f"{name}={raw!r}: use a whole number from {at_least}{until}.")

    def size(self, name: str, *, default: int, at_least: int) -> int:
        """Read bytes: a whole number of them, or with a unit as in a job's spec."""
        raw = self.text(name, default=str(default))
        number, unit = found.groups() if (found := _SIZE.fullmatch(raw.strip())) else ("0", "")
        if (size := int(number) * BYTES_BY_UNIT[unit or "B"]) >= at_least:
            return size
        raise BadEnvironment(
            f"{name}={raw!r}: use a number of bytes from {at_least}, or a size such as 200MB or"
            " 100GiB."
        )

    def choice(self, name: str, *, default: str, among: Collection[str]) -> str:
        value = self.text(name, default=default)
        if value in among:
            return value
        raise BadEnvironment(f"{name}={value!r}: use {' or '.join(among)}.")

    def folder(self, name: str) -> Path | None:
        """Read a folder; None if it is not set. A folder that does not exist is a mistake."""
        raw = self.environ.get(name, "")
        if not raw:
            return None
        path = Path(raw).absolute()
        if path.is_dir():
            return path
        raise BadEnvironment(f"{name}={raw!r}: there is no such folder. Make it, or remove {name}.")


def _content(name: str, path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise BadEnvironment(
            f"{name}={str(path)!r} cannot be read: {problem}. Name a text file that this"
            " process's user may read."
        ) from problem
