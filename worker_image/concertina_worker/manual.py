"""Where is it written down what a script may do? What the runtime says to people points there."""

from __future__ import annotations

from enum import Enum
from typing import Final

FOLDER: Final = "docs/elastic-script"


class Section(Enum):
    """A section of the guide: its chapter, and its heading there."""

    BATCH_NORMALISATION = ("models", "Batch normalisation")
    BATCH_SIZE = ("schedulers", "Batch size and learning rate")
    BATCHES = ("loops", "Batches")
    DISTRIBUTED_DATA_PARALLEL = ("ddp", "DistributedDataParallel")
    EPOCHS = ("loops", "Epochs")
    LEAVING = ("workers", "Leaving")
    LIGHTNING = ("frameworks", "PyTorch Lightning")
    LOSS = ("loss", "The loss")
    MISTAKES = ("mistakes", "What breaks elasticity, and who says so")
    MIXED_PRECISION = ("state", "Mixed precision")
    NUMBER_OF_WORKERS = ("workers", "The number of workers")
    REGISTER = ("four-lines", "register")
    SHARDED_MODELS = ("models", "Sharded models")
    SCHEDULERS = ("schedulers", "Schedulers")
    SEVERAL_BACKWARD_PASSES = ("several-models", "Several backward passes")
    SEVERAL_MODELS = ("several-models", "Several models and optimizers")
    STEPS = ("steps", "Counting by steps")
    STATE = ("state", "State of your own")

    @property
    def page(self) -> str:
        """The file of the chapter, from the root of the repository."""
        return f"{FOLDER}/{self.value[0]}.md"

    @property
    def heading(self) -> str:
        """What to look for in it."""
        return self.value[1]

    def __str__(self) -> str:
        """The section as a person finds it: `docs/elastic-script/loops.md, “Epochs”`."""
        return f"{self.page}, “{self.heading}”"
