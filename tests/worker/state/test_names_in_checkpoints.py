"""Checkpoints of earlier releases name classes of the runtime by the modules of their time."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
import torch

from concertina_worker.checkpoint_files import CheckpointDescription
from concertina_worker.samples import cursor
from concertina_worker.state.checkpoints import checkpoint, former_names


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("batch.learning_rate", "Ramp"),
        ("batch.noise_scale", "NoiseAverage"),
        ("batch.schedule", "Schedule"),
        ("data.cursor", "Cursor"),  # until the package was called `samples`
        ("data.stream_place", "Bookmark"),
        ("samples.cursor", "Cursor"),
        ("samples.stream_place", "Bookmark"),
        ("training.distributed_model", "DistributedModel"),  # of scripts that save whole models
    ],
)
def test_a_class_is_found_by_the_name_that_a_checkpoint_has_for_it(module: str, name: str) -> None:
    pickled = f"cconcertina_worker.{module}\n{name}\n.".encode()
    found = former_names.Unpickler(io.BytesIO(pickled)).load()
    assert found.__qualname__ == name


def test_a_checkpoint_with_former_names_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = cursor.Cursor(epoch=2, position=64)
    with monkeypatch.context() as then:
        then.setitem(sys.modules, "concertina_worker.data.cursor", cursor)
        then.setattr(cursor.Cursor, "__module__", "concertina_worker.data.cursor")
        content = {"place": place, "model": {"a": torch.ones(3)}, "plain_names": {"a": "a"}}
        checkpoint.write(tmp_path, content, CheckpointDescription(step=5), keep_last=1)
    content = checkpoint.load_newest(tmp_path)
    assert content is not None
    assert content["place"] == place
