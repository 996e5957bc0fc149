"""Checkpoints of earlier releases name classes of the runtime: these stay where they were."""

from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("batch.learning_rate", "Ramp"),
        ("batch.noise_scale", "NoiseAverage"),
        ("batch.schedule", "Schedule"),
        ("data.cursor", "Cursor"),
        ("data.stream_place", "Bookmark"),
        ("training.distributed_model", "DistributedModel"),  # of scripts that save whole models
    ],
)
def test_a_class_that_checkpoints_name_is_where_they_look_for_it(module: str, name: str) -> None:
    found = getattr(importlib.import_module(f"concertina_worker.{module}"), name)
    assert (found.__module__, found.__qualname__) == (f"concertina_worker.{module}", name)
