"""Where is the checkout's own Python, and how do packages get into it?"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from local_stack.set_up.long_step import StepFailed, run_step


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualEnvironment:
    """The folder `.venv` of a checkout."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def uv(self) -> Path:
        """The fast installer, once it is there."""
        return self.folder / "bin" / "uv"

    @property
    def is_whole(self) -> bool:
        """True if something can be installed into it: its making ends with the installer."""
        installers = (self.folder / "bin" / "pip", self.uv)
        return self.python.exists() and any(map(Path.exists, installers))

    @property
    def is_ready(self) -> bool:
        """True if everything was installed into it at least once."""
        return self.stamp_file.exists() and self.python.exists()

    @property
    def stamp_file(self) -> Path:
        return self.folder / "concertina-set-up"

    def create(self, *, log: Path) -> None:
        """Make it, unless it is there and whole; one that was interrupted is made anew.

        Raises:
            StepFailed: this Python cannot make one.
        """
        if self.is_whole:
            return
        if importlib.util.find_spec("ensurepip") is None and shutil.which("uv") is None:
            minor = sys.version_info.minor
            raise StepFailed(
                "This Python cannot make virtual environments:"
                f" install python3.{minor}-venv (apt-get install python3.{minor}-venv)."
            )
        run_step(
            "Virtual environment",
            self._creation(),
            log=log,
            folder=self.folder.parent,
        )

    def _creation(self) -> list[str]:
        if importlib.util.find_spec("ensurepip") is None:
            return ["uv", "venv", "--seed", "--python", sys.executable, str(self.folder)]
        return [sys.executable, "-m", "venv", "--clear", str(self.folder)]
