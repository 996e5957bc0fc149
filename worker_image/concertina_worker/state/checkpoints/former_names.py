"""Where is a class today that a checkpoint of an earlier release names? Modules have moved since.

`torch.load` takes this module in the place of `pickle`.
"""

from __future__ import annotations

import pickle
from typing import Any, Final

MOVED: Final = {"concertina_worker.data.": "concertina_worker.samples."}  # prefixes of modules


class Unpickler(pickle.Unpickler):
    """Looks for a class where it is now."""

    def find_class(self, module: str, name: str) -> Any:
        for former, present in MOVED.items():
            if module.startswith(former):
                module = present + module.removeprefix(former)
        return super().find_class(module, name)


load = pickle.load
