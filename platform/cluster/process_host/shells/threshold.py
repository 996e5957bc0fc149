"""How does the attendant become the worker's user? By what its launch says, as the worker did.

Started as `python -S -E -m cluster.process_host.shells.threshold <record folder>`. Standard library
only, and only quick imports.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cluster.process_host.commands import command
from cluster.process_host.record import records
from cluster.shells.program import ATTENDANT


def main(folder: str) -> None:
    """Become the attendant in the worker's folder, with its user, bounds and variables."""
    launch = records.read(records.CommandRecord(folder=Path(folder)).launch_path)
    if launch is None:
        sys.exit("This worker is not there any more.")
    wanted = {**launch["command"], "arguments": [sys.executable, "-I", "-c", ATTENDANT]}
    command.become(command.ProcessCommand(**wanted))


if __name__ == "__main__":
    main(sys.argv[1])
