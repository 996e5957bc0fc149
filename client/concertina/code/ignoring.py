"""Which files of a folder are no part of its code? What git ignores, and what nobody means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pathspec import GitIgnoreSpec

FILES: Final = (".gitignore", ".concertinaignore")  # the later one wins
_NEVER: Final = frozenset({".git", ".hg", ".svn", "__pycache__", ".ipynb_checkpoints"})
_OF_VIRTUAL_ENVIRONMENTS: Final = "pyvenv.cfg"


class Ignored:
    """What the ignore files of a folder and of those above it say, up to the one that is packed."""

    def __init__(self, folder: Path, above: Ignored | None = None) -> None:
        """Raises: BadInput (an ignore file cannot be read)."""
        self._folder = folder
        self._above = above
        lines = [line for name in FILES for line in _lines(folder / name)]
        self._patterns = _patterns(lines) if lines else None

    def has(self, path: Path, *, is_folder: bool) -> bool:
        """True if this path, anywhere below the folder, stays out."""
        if path.name in _NEVER or (is_folder and (path / _OF_VIRTUAL_ENVIRONMENTS).exists()):
            return True
        return bool(self._told(path, is_folder=is_folder))

    def _told(self, path: Path, *, is_folder: bool) -> bool | None:
        """Return what the nearest file says that says anything."""
        name = path.relative_to(self._folder).as_posix() + ("/" if is_folder else "")
        is_included = self._patterns.check_file(name).include if self._patterns else None
        if is_included is None and self._above is not None:
            return self._above._told(path, is_folder=is_folder)  # noqa: SLF001 - of our own class
        return is_included


def _patterns(lines: Sequence[str]) -> GitIgnoreSpec:
    try:
        from pathspec import GitIgnoreSpec  # noqa: PLC0415 - only who ignores files pays for it
    except ModuleNotFoundError as missing:
        raise BadInput(
            f"{' and '.join(FILES)} are read with pathspec, which is not installed: "
            "pip install 'concertina-client[code]'."
        ) from missing
    return GitIgnoreSpec.from_lines(lines)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{file} cannot be read: {error}.") from error
