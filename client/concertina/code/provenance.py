"""From which commit does a folder come? As git says it, if the folder is in a repository."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST_DIFF: Final = 30_000  # characters; the service takes a few more
_CUT: Final = "\n… and more\n"
_SECONDS: Final = 10.0


def of(folder: Path) -> dict[str, Any] | None:
    """Return commit, branch, and what is changed beside it; None: git knows nothing of it."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    diff = _git(folder, "diff", "--no-color", "--no-ext-diff", "HEAD", "--", ".") or ""
    is_changed = bool(_git(folder, "status", "--porcelain", "--", "."))
    return {
        "commit": commit,
        "branch": (_git(folder, "rev-parse", "--abbrev-ref", "HEAD") or "")[:250],
        "is_changed": is_changed,
        "diff": diff if len(diff) <= _LONGEST_DIFF else diff[:_LONGEST_DIFF] + _CUT,
    }


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git says, None if it fails or is not there."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and nothing of the job
            ("git", "-C", str(folder), *arguments),  # noqa: S607 - the user's own git
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").replace("\0", "�").strip()
