"""The real thing: real servers, real service, real training, seen as by who uses it.

The tests of each folder share one stack, which is up from the folder's first test to its last.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "scripts"


@pytest.fixture(scope="session")
def scripts() -> Path:
    return SCRIPTS
