"""What is the attendant as text? It is started where nothing of ours is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cluster.shells import attendant

ATTENDANT: Final = Path(attendant.__file__).read_text()
