"""Where does a script put what it wants to hand over? Standard library only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from concertina_worker.protocol import Env

_ALONE: Final = "outputs"  # where it starts


def outputs() -> Path:
    """Return the folder of the job's outputs, which is one for all its workers; it is there.

    Outside the platform it is `outputs` in the folder in which the script was started.
    """
    folder = Path(os.environ.get(Env.OUTPUTS) or _ALONE).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder
