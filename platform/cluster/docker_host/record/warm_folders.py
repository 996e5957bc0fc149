"""Which containers wait warm, and which of them is whose? A folder each, which only one can have.

`state/warm/ID/` belongs to a container that waits: `warm.json` says as what kind it was started,
`run/` is where it looks for its order, `mounts/` holds the folders that it sees. Whoever wants it
renames the folder into the record of a process: of several only one can. What was mounted follows,
because a mount is of a folder and not of its name.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from cluster import json_files
from cluster.docker_host.container.containers import SCRATCH
from cluster.docker_host.container.secrets_file import MOUNTED_AT

_ORDER: Final = "order.json"
_MARK: Final = ".concertina-is-warm"
_UNWANTED: Final = ".unwanted-"

ORDER_INSIDE: Final = f"{MOUNTED_AT}/{_ORDER}"  # as the container sees it
MARK_INSIDE: Final = f"{SCRATCH}/{_MARK}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """As what one that waits was started; a launch that takes it over needs the same."""

    node: str
    image_id: str
    env: Mapping[str, str]  # what libraries read at their import
    targets: frozenset[str]  # of the folders it sees
    shm_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmFolder:
    """The folder of one container."""

    folder: Path

    @property
    def _about_path(self) -> Path:
        return self.folder / "warm.json"

    @property
    def run_dir(self) -> Path:
        return self.folder / "run"

    @property
    def is_warm(self) -> bool:
        """It has imported all, and waits."""
        return self.mark_in(self.mounted(SCRATCH)).exists()

    @property
    def was_ordered(self) -> bool:
        """It is the process of a launch, or about to be."""
        return (self.run_dir / _ORDER).exists()

    def warm_id(self) -> str | None:
        """How it was called when it waited; None: there is no such folder, or not any more."""
        about = json_files.read(self._about_path)
        return None if about is None else str(about["id"])

    def kind(self) -> Kind | None:
        """None: there is no such folder, or not any more."""
        about = json_files.read(self._about_path)
        if about is None:
            return None
        return Kind(
            node=about["node"],
            image_id=about["image_id"],
            env=about["env"],
            targets=frozenset(about["targets"]),
            shm_bytes=about["shm_bytes"],
        )

    def mounted(self, target: str) -> Path:
        """The folder that the container sees there, until a launch has it moved."""
        return self.folder / "mounts" / target.strip("/").replace("/", "-")

    @staticmethod
    def mark_in(scratch: Path) -> Path:
        return scratch / _MARK

    def age_seconds(self) -> float:
        """Since it was made, by our clock: its node's may be wrong."""
        about = json_files.read(self._about_path)
        return 0.0 if about is None else time.time() - about.get("made_at", 0.0)

    def make(self, kind: Kind) -> None:
        self.folder.mkdir(parents=True, mode=0o700)
        targets = sorted(kind.targets)
        made = {"id": self.folder.name, "made_at": time.time()}
        about = {**made, **asdict(kind), "targets": targets}
        json_files.replace(self._about_path, about)

    def order(self, document: Mapping[str, Any]) -> None:
        """From this moment on it is the process of the launch. Secrets are part of it.

        The folder above is closed to others; the file is open, for the container's user.
        """
        json_files.replace(self.run_dir / _ORDER, dict(document), mode=0o444)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmFolders:
    """All that wait, of one installation."""

    state_dir: Path

    @property
    def folder(self) -> Path:
        return self.state_dir / "warm"

    @property
    def lock_path(self) -> Path:
        return self.state_dir / "warm.lock"

    def of(self, warm_id: str) -> WarmFolder:
        return WarmFolder(folder=self.folder / warm_id)

    def all(self) -> dict[str, WarmFolder]:
        """By id."""
        try:
            names = sorted(path.name for path in self.folder.iterdir())
        except FileNotFoundError:
            return {}
        return {name: self.of(name) for name in names if not name.startswith(_UNWANTED)}

    def unwanted(self) -> tuple[WarmFolder, ...]:
        """Those that somebody began to remove."""
        return tuple(WarmFolder(folder=path) for path in self.folder.glob(f"{_UNWANTED}*"))

    def take(self, warm_id: str, place: Path) -> WarmFolder | None:
        """Have it, at this place, which must not be there; None: somebody else has it."""
        try:
            (self.folder / warm_id).rename(place)
        except FileNotFoundError:
            return None
        return WarmFolder(folder=place)

    def take_out(self, warm_id: str) -> WarmFolder | None:
        """Have it, to remove it; None: somebody else has it."""
        return self.take(warm_id, self.folder / f"{_UNWANTED}{warm_id}")

    def give_back(self, taken: WarmFolder, warm_id: str) -> None:
        """As it was."""
        taken.folder.rename(self.folder / warm_id)


def move(source: Path, target: Path) -> bool:
    """Give a folder another name, which nobody may have; False: somebody has.

    Whoever makes the target may have the name; one in which is something is never replaced.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.mkdir()
    except FileExistsError:
        return False
    source.rename(target)
    return True
