"""What cannot be trained in parts is refused at `register`, by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard
from torch.optim.swa_utils import AveragedModel

from concertina_worker.environment import WorkerEnvironment
from concertina_worker.protocol import Env
from concertina_worker.sharding import taking
from concertina_worker.sharding.taking import NotShardableError, check_extras, take
from concertina_worker.training.script_checks.pitfalls import ScriptError
from concertina_worker.training.script_objects.sharding import Sharding

BATCH = {"base": 8, "lr_scaling": "adascale", "lr_warmup_steps": 0, "max_per_gpu": None}


def a_model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2))


def shard(model: Any, mesh: Any) -> None:
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)


def taken(
    model: Any,
    optimizer: Any = None,
    how: Callable[[Any, Any], None] = shard,
    init: Any = None,
) -> Any:
    optimizers = [optimizer or torch.optim.SGD(model.parameters(), lr=0.1)]
    return take(model, optimizers, how, init, torch.device("cpu"))


def test_what_can_be_is_as_the_script_made_it_but_for_its_values() -> None:
    model = a_model()
    kind, names = type(model), [*model.state_dict()]
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    taken(model, optimizer)
    assert type(model) is kind
    assert [*model.state_dict()] == names
    assert all(parameter.is_meta for parameter in model.parameters())
    assert optimizer.param_groups[0]["params"] == [*model.parameters()]
    assert not torch.distributed.is_initialized()


def test_a_model_that_was_made_without_values_is_taken_with_what_gives_them() -> None:
    with torch.device("meta"):
        model = a_model()
    with pytest.raises(NotShardableError, match=r"0\.weight has no values.*`init`"):
        taken(model)
    assert taken(model, init=lambda _: None)
    with pytest.raises(NotShardableError, match=r"has values, which `init` would write over"):
        taken(a_model(), init=lambda _: None)


def by_columns(model: Any, mesh: Any) -> None:
    fully_shard(model, mesh=mesh, shard_placement_fn=lambda p: Shard(p.dim() - 1))


def one_layer(model: Any, mesh: Any) -> None:
    fully_shard(model[0], mesh=mesh)


def all_but_one(model: Any, mesh: Any) -> None:
    fully_shard(model, mesh=mesh, ignored_params={model[1].bias})


def twice(model: Any, mesh: Any) -> None:
    fully_shard(model, mesh=mesh)
    fully_shard(model, mesh=mesh)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (by_columns, r"0\.weight is laid out as .*, not by rows"),
        (one_layer, r"1\.weight was left out by fully_shard"),
        (all_but_one, r"1\.bias was left out by fully_shard"),
        (twice, r"cannot lay the model out: .*once"),
    ],
)
def test_other_layouts_are_refused(how: Callable[[Any, Any], None], reason: str) -> None:
    with pytest.raises(NotShardableError, match=reason):
        taken(a_model(), how=how)


def test_a_parameter_that_different_groups_share_is_refused() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    model[1].weight = model[0].weight
    with pytest.raises(NotShardableError, match=r"0\.weight|lay the model out"):
        taken(model)


def test_a_model_that_is_compiled_before_is_refused() -> None:
    model = a_model()
    model._compiled_call_impl = model.forward  # noqa: SLF001 - as model.compile() does
    with pytest.raises(NotShardableError, match="compiled already"):
        taken(model)


def test_several_models_and_single_numbers_are_refused() -> None:
    model = a_model()
    with pytest.raises(NotShardableError, match="for one model"):
        take([model], [torch.optim.SGD(model.parameters())], shard, None, torch.device("cpu"))
    model.scale = nn.Parameter(torch.tensor(1.0))
    with pytest.raises(NotShardableError, match="scale is a single number"):
        taken(model)


def test_optimizers_that_do_not_go_by_rows_or_know_something_are_refused() -> None:
    model = a_model()
    with pytest.raises(NotShardableError, match=r"What Adafactor remembers.*AdamW"):
        taken(model, torch.optim.Adafactor(model.parameters()))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.rand(2, 4)).sum().backward()
    optimizer.step()
    with pytest.raises(NotShardableError, match="has state already"):
        taken(model, optimizer)


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({Env.BATCH: json.dumps(BATCH)}, "adascale.*Choose linear"),
        (
            {
                Env.CHECKPOINT_DIR: "folder",
                Env.CHECKPOINT_KEEP_BEST: '{"metric": "loss", "goal": "min", "n": 2}',
            },
            r"keep_best.*Leave it out",
        ),
    ],
    ids=["adascale", "keep_best"],
)
def test_what_a_job_may_not_ask_for_with_it_is_refused_with_where_to_read(
    variables: dict[str, str], reason: str
) -> None:
    model = a_model()
    sharding = Sharding(shard=shard, init=None, device=torch.device("cpu"))
    environment = WorkerEnvironment.read(variables)
    with pytest.raises(ScriptError, match=rf"{reason}.*models\.md, “Sharded models”"):
        sharding.take(model, [torch.optim.SGD(model.parameters())], environment)


def test_what_is_refused_by_name_says_where_to_read_and_init_belongs_to_shard() -> None:
    model = a_model()
    sharding = Sharding(shard=one_layer, init=None, device=torch.device("cpu"))
    with pytest.raises(ScriptError, match=r"1\.weight was left out.*models\.md"):
        sharding.take(model, [torch.optim.SGD(model.parameters())], WorkerEnvironment.read({}))
    with pytest.raises(ScriptError, match="give both, or none"):
        Sharding.of(None, lambda _: None, torch.device("cpu"))
    assert Sharding.of(None, None, torch.device("cpu")) is None


def test_a_pytorch_that_lacks_what_is_needed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking, "NEEDED", ("set_something",))
    with pytest.raises(NotShardableError, match=r"PyTorch 2\.\S+ has no set_something.*2\.13"):
        taken(a_model())


def test_averages_of_all_weights_and_loss_scalers_are_refused() -> None:
    with pytest.raises(NotShardableError, match=r"AveragedModel \(job\.state 'average'\)"):
        check_extras({"average": AveragedModel(a_model())})
    with pytest.raises(NotShardableError, match="bfloat16"):
        check_extras({"scaler": torch.amp.GradScaler("cpu")})
