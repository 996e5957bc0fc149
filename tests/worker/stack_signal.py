"""At which signal does a process write the stacks of all its threads to its standard error?

Whoever imports this does so from then on, and so do its forks.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
from typing import Final

SIGNAL: Final = signal.SIGUSR1

faulthandler.register(SIGNAL, file=sys.__stderr__, all_threads=True)
