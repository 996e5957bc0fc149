"""The stack that one command starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack.stack.stack import Options

from tests.end_to_end.running_stack import RunningStack, running


@pytest.fixture
def tmp_path(open_folder: Path) -> Path:
    """Jobs read and write there, as users of their own."""
    return open_folder


@pytest.fixture(scope="package")
def stack() -> Iterator[RunningStack]:
    with running(Options(slots=4, tick_seconds=1.0)) as ready:
        yield ready
