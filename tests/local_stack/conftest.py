"""Folders short enough for unix sockets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of this test only; pytest's own are too deep for a socket's 107 characters."""
    with tempfile.TemporaryDirectory(prefix="concertina-test-") as path:
        yield Path(path)
