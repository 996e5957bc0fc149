"""Which words are there for what a restart of a script cost?"""

from __future__ import annotations

from django.db import models


class RestartSign(models.TextChoices):
    """What the new workers were first seen to do."""

    NONE = "", "nothing yet"
    LINE = "line", "line: they wrote something"
    ITERATION = "iteration", "iteration: they wrote the number of a step or an epoch"


class Unit(models.TextChoices):
    """What a number in a log counts."""

    UNKNOWN = "", "not known"
    ITERATION = "iteration", "iteration"
    EPOCH = "epoch", "epoch"
    COUNT = "count", "count: of iterations or samples within an epoch, its script alone knows"
