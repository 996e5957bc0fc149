"""Which parts of which files are there already? Kept in a journal, so that a kill costs little.

A line is written after what it tells of. It counts only for the boot of the machine that wrote it,
except for whole files: those were brought to the disk before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

PIECE_BYTES: Final = 16 << 20  # of one request
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_END: Final = "."  # a line without it was cut off


class Journal:
    """What has come of one listing; `folder` holds it and nobody else writes there."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "journal"
        self._boot = _BOOT.read_text().strip()
        self.whole: set[int] = set()  # numbers of objects
        self.pieces: dict[int, set[int]] = {}  # of objects that are not whole
        self._read()
        self._file = self._path.open("a", buffering=1)
        self._write("boot", self._boot)

    def close(self) -> None:
        self._file.close()

    def add_piece(self, number: int, piece: int) -> None:
        self.pieces.setdefault(number, set()).add(piece)
        self._write("piece", number, piece)

    def add_whole(self, number: int) -> None:
        self.whole.add(number)
        self.pieces.pop(number, None)
        self._write("whole", number)

    def forget(self, number: int) -> None:
        self.whole.discard(number)
        self.pieces.pop(number, None)
        self._write("forget", number)

    def _write(self, *words: object) -> None:
        self._file.write(" ".join(map(str, words)) + f" {_END}\n")

    def _read(self) -> None:
        if not self._path.exists():
            return
        is_of_this_boot = False
        for line in self._path.read_text().splitlines():
            word, *rest = line.split(" ")
            if rest[-1:] != [_END]:
                continue
            if word == "boot":
                is_of_this_boot = rest[:-1] == [self._boot]
            else:
                self._take(word, [int(one) for one in rest[:-1]], is_of_this_boot=is_of_this_boot)

    def _take(self, word: str, numbers: list[int], *, is_of_this_boot: bool) -> None:
        number = numbers[0]
        if word == "whole":
            self.whole.add(number)
        elif word == "forget":
            self.whole.discard(number)
            self.pieces.pop(number, None)
        elif is_of_this_boot:
            self.pieces.setdefault(number, set()).add(numbers[1])
