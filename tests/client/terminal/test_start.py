"""What does the command line load before it knows what it is to do?"""

from __future__ import annotations

import subprocess
import sys


def test_help_loads_neither_http_nor_yaml_nor_what_packs_code() -> None:
    """Each is felt: whoever asks for help, or presses Tab, waits for all that is loaded."""
    code = "import sys, concertina.main; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "concertina.commands.inspect" in loaded
    assert {"httpx", "yaml", "pathspec", "importlib.metadata"}.isdisjoint(loaded)
