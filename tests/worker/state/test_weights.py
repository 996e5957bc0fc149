"""Weights are read by anybody: without Concertina, without running anything that is in them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import nn

from concertina_worker.checkpoint_files import CheckpointDescription
from concertina_worker.state.checkpoints import checkpoint, weights
from concertina_worker.state.checkpoints.keeping import told_by
from concertina_worker.state.checkpoints.written_file import BrokenCheckpointError
from concertina_worker.state.plain_names import WeightsMismatchError, plain_names
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.distributed_model import DistributedModel
from tests.worker.state.state_samples import a_state, assert_equal


class Tied(nn.Module):
    """Has everything that is not an ordinary weight."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("seen", torch.tensor(7))
        self.register_buffer("nothing", torch.empty(0, 3))
        self.register_buffer("brief", torch.rand(3, dtype=torch.float32).bfloat16())
        self.register_buffer("turned", torch.arange(6).reshape(2, 3).T)
        self.register_buffer("phase", torch.tensor([1j]))
        self.note = {"classes": ["a", "b"]}

    def get_extra_state(self) -> Any:
        return self.note

    def set_extra_state(self, state: Any) -> None:
        self.note = state


def write(folder: Path, state: TrainingState) -> Path:
    checkpoint.write(folder, state.to_checkpoint(), CheckpointDescription(step=3), keep_last=1)
    (path,) = folder.glob("*.safetensors")
    return path


def a_state_of(model: nn.Module) -> TrainingState:
    return TrainingState(model, [torch.optim.SGD(model.parameters(), lr=0.1)], {})


def test_safetensors_opens_them_and_a_plain_model_takes_them(tmp_path: Path) -> None:
    state = a_state(seed=1, steps=2)
    path = write(tmp_path, state)
    found = safetensors.torch.load_file(path)
    assert found.keys() == state.model.state_dict().keys()
    other = a_state(seed=2).model
    other.load_state_dict(found)
    for name, tensor in other.state_dict().items():
        assert torch.equal(tensor, state.model.state_dict()[name])
    about = told_by(tmp_path / "step-000000000003.pt")
    assert about is not None
    assert about.weights_digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert about.weights_bytes == path.stat().st_size


def test_all_that_a_model_keeps_comes_back(tmp_path: Path) -> None:
    model = Tied()
    path = write(tmp_path, a_state_of(model))
    plain = safetensors.torch.load_file(path)
    assert {*model.state_dict()} - {*plain} == {"phase", "_extra_state"}
    assert torch.equal(plain["head.weight"], plain["embedding.weight"])
    assert torch.equal(plain["turned"], model.turned)
    fresh = Tied()
    fresh.note = {}
    content = checkpoint.load_newest(tmp_path)
    assert content is not None
    assert [*content["model"]] == [*model.state_dict()]
    a_state_of(fresh).load_checkpoint({**content, "step": 3})
    assert fresh.note == model.note
    for name, tensor in model.state_dict().items():
        if isinstance(tensor, torch.Tensor):
            assert torch.equal(tensor, fresh.state_dict()[name]), name


def test_names_are_those_of_the_model_without_its_wrappers(tmp_path: Path) -> None:
    compiled = torch.compile(nn.Linear(2, 2), backend="eager")
    models = nn.ModuleDict({"critic": DistributedModel(nn.Linear(2, 2)), "actor": compiled})
    assert {*plain_names(models).values()} == {
        *("critic.weight", "critic.bias", "actor.weight", "actor.bias"),
    }
    inner = nn.ModuleDict({"module": nn.Linear(2, 2)})  # called so by its script
    assert {*plain_names(DistributedModel(inner)).values()} == {"module.weight", "module.bias"}
    found = safetensors.torch.load_file(write(tmp_path, a_state_of(DistributedModel(inner))))
    inner.load_state_dict(found)


def test_a_model_in_a_wrapper_starts_from_one_without(tmp_path: Path) -> None:
    one, other = nn.Linear(3, 2), nn.Linear(3, 2)
    found = weights.read(write(tmp_path, a_state_of(one)))
    state = a_state_of(DistributedModel(other))
    state.begin_with(found)
    assert torch.equal(one.weight, other.weight)
    assert (state.step, state.is_complete) == (0, True)


def test_going_on_from_another_job_is_going_on_with_all(tmp_path: Path) -> None:
    state, other = a_state(seed=1, steps=3), a_state(seed=2)
    write(tmp_path, state)
    content = checkpoint.load_newest(tmp_path)
    assert content is not None
    other.go_on_from(content)
    assert_equal(state, other)


def test_weights_of_another_model_are_refused_by_name() -> None:
    given = nn.ModuleDict({"body": nn.Linear(2, 3), "tail": nn.Linear(3, 9)}).state_dict()
    model = nn.ModuleDict({"body": nn.Linear(2, 4), "head": nn.Linear(4, 1)})
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(WeightsMismatchError) as refused:
        a_state_of(model).begin_with(given)
    told = str(refused.value)
    assert "of another shape: body.weight has 3 x 2, here 4 x 2, body.bias has 3, here 4" in told
    assert "not among those weights: head.weight, head.bias" in told
    assert "unknown to this model: tail.weight, tail.bias" in told
    assert all(torch.equal(before[name], one) for name, one in model.state_dict().items())


def test_what_is_skipped_stays_as_the_script_made_it() -> None:
    given = nn.ModuleDict({"body": nn.Linear(2, 4), "head": nn.Linear(4, 9)})
    given["old"] = nn.Linear(1, 1)
    model = nn.ModuleDict({"body": nn.Linear(2, 4), "head": nn.Linear(4, 1)})
    head = model["head"].weight.clone()
    state = a_state_of(DistributedModel(model))
    state.begin_with(given.state_dict(), skip=["head.*", "old.*"])
    assert torch.equal(model["body"].weight, given["body"].weight)
    assert torch.equal(model["head"].weight, head)
    with pytest.raises(WeightsMismatchError, match="of another shape: head"):
        state.begin_with(given.state_dict(), skip=["old.*"])
    with pytest.raises(WeightsMismatchError, match=r"'haed\.\*', which is the name of no weights"):
        state.begin_with(given.state_dict(), skip=["haed.*", "old.*"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        (2).to_bytes(8, "little") + b"[]",
        (9).to_bytes(8, "little") + b'{"a": {}}',
        *(
            len(
                text := json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": place}})
            ).to_bytes(8, "little")
            + text.encode()
            + b"1234"
            for place in ([0, 8], [0, 4], ["x", None])
        ),
    ],
)
def test_what_is_no_safetensors_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(BrokenCheckpointError):
        weights.read(tmp_path / "model.safetensors")


def test_a_checkpoint_without_its_weights_or_with_others_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, a_state(seed=1, steps=2))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(BrokenCheckpointError, match="checksum of its weights"):
        checkpoint.read(tmp_path / "step-000000000003.pt")
    path.unlink()
    assert checkpoint.load_newest(tmp_path) is None
