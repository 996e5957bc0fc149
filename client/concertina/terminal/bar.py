"""How is it shown how far something large is? By a bar on terminals, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN_FROM: Final = 1 << 20  # bytes; fewer are through before anybody could read a bar


class TransferBar:
    """Called with the bytes that are through, and all there are."""

    def __init__(self, console: Console, title: str) -> None:
        self._bar = Progress(
            TextColumn(title),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._is_shown = console.is_terminal
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        return self

    def __call__(self, through: int, total: int) -> None:
        if self._is_shown and total >= _SHOWN_FROM:
            self._bar.start()
            self._bar.update(self._task, completed=through, total=total)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class ShareBar:
    """Called with the share that is through, of something that takes a while."""

    def __init__(self, console: Console, title: str) -> None:
        self._bar = Progress(
            TextColumn(title),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=1.0)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __call__(self, share: float) -> None:
        self._bar.update(self._task, completed=share)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
