"""What did the planner of an earlier commit make of the same workloads? Asked in its own code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from benchmarks.caution.rows import MEASURED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.caution.figures import Figures

_HERE: Final = Path(__file__).parent
_PACKAGE: Final = Path("benchmarks") / _HERE.name


def replayed_before(commit: str, *, seeds: int, is_hot: bool, processes: int) -> list[Figures]:
    """Today's benchmark in the code of then: figures by seed, where speeds are measured."""
    options = [
        "--json",
        "--rows",
        MEASURED.name,
        "--seeds",
        str(seeds),
        "--processes",
        str(processes),
    ]
    with _checked_out(commit) as code:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.caution", *options, *["--hot"] * is_hot],
            cwd=code,
            env=os.environ | {"PYTHONPATH": f"{code}{os.pathsep}{code / 'platform'}"},
            stdout=subprocess.PIPE,
            check=True,
        )
    found: dict[str, list[Figures]] = json.loads(done.stdout)
    return found[MEASURED.name]


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """A folder with the code of that commit and with this benchmark."""
    with TemporaryDirectory() as folder:
        code = Path(folder) / "code"
        _git("worktree", "add", "--detach", "--quiet", str(code), commit)
        try:
            (code / _PACKAGE).with_suffix(".py").unlink(missing_ok=True)
            shutil.copytree(_HERE, code / _PACKAGE, dirs_exist_ok=True)
            yield code
        finally:
            _git("worktree", "remove", "--force", str(code))


def _git(*arguments: str) -> None:
    git = shutil.which("git") or "git"
    subprocess.run([git, "-C", str(_HERE), *arguments], check=True)
