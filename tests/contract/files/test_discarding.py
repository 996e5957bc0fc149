"""Whatever a job did to its scratch folder, it goes away, and nothing that it points to."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster.files.discarding import discard

from tests.contract.conftest import until

SOMEBODY = 10001
DEEP = 3000  # deeper than Python recurses, and than the kernel takes as one path


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in which nobody has more rights than the modes of files give.

    Nobody of this thread and those that it starts: the kernel knows a user for each.
    """
    become = ctypes.CDLL(None).setfsuid
    with tempfile.TemporaryDirectory(prefix="discard-") as name:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(name, SOMEBODY, SOMEBODY)
            become(SOMEBODY)
        try:
            yield Path(name)
        finally:
            if is_root:
                become(0)


def make_closed(scratch: Path) -> None:
    inner = scratch / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    for folder in (inner, inner.parent, scratch):
        folder.chmod(0)


def make_deep(scratch: Path) -> None:
    scratch.mkdir()
    here = os.open(scratch, os.O_RDONLY)
    for _ in range(DEEP):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def make_wide(scratch: Path) -> None:
    scratch.mkdir()
    for number in range(2500):
        (scratch / str(number)).touch()


@pytest.mark.parametrize("make", [make_closed, make_deep, make_wide])
def test_it_goes_away(place: Path, make: Callable[[Path], None]) -> None:
    scratch, aside = place / "scratch", place / "aside"
    make(scratch)
    discard(scratch, aside=aside)
    assert not scratch.exists()
    until(lambda: list(aside.iterdir()) == [])


def test_what_a_link_points_to_stays_as_it_is(place: Path) -> None:
    scratch, aside, others = place / "scratch", place / "aside", place / "others"
    others.mkdir()
    others.chmod(0o755)
    (others / "file").touch()
    scratch.mkdir()
    (scratch / "link").symlink_to(others)
    discard(scratch, aside=aside)
    until(lambda: list(aside.iterdir()) == [])
    assert (others / "file").exists()
    assert others.stat().st_mode & 0o777 == 0o755


def test_one_that_cannot_be_removed_does_not_keep_the_others(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = place / "aside"
    unlink = Path.unlink

    def refused(path: Path, *, missing_ok: bool = False) -> None:
        if path.name == "stuck":
            raise PermissionError(path)
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    for name in ("stuck", "free", "other"):
        (place / name).mkdir()
        (place / name / name).touch()
        discard(place / name, aside=aside)
    # Unlike `rglob`, `os.walk` gets over folders that go away while it looks.
    until(lambda: [name for _, _, names in os.walk(aside) for name in names] == ["stuck"])
    until(lambda: len(list(aside.iterdir())) == 1)
