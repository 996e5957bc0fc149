"""What in a script breaks elasticity, and can be seen? It is told once, with the remedy.

What makes the result wrong is an error; what may be meant so is a warning, from the main worker.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

import torch
from torch import nn

from concertina_worker.environment import FIXED_SIZE_VARIABLES
from concertina_worker.manual import Section
from concertina_worker.protocol import ExitCode

_READS_FIXED_SIZE: Final = re.compile(
    rf"""(?:environ(?:\.get\(|\[)|getenv\()\s*["']({"|".join(FIXED_SIZE_VARIABLES)})["']"""
)
_PACKAGE: Final = str(Path(__file__).parents[2])


class ElasticityWarning(UserWarning):
    """Something in the script does not follow the number of workers."""


class ScriptError(RuntimeError):
    """The script does something that cannot be made elastic."""

    def __init__(self, text: str, section: Section) -> None:
        super().__init__(f"{text} (See {section}.)")


class Pitfalls:
    """Watches one script; says each thing once, as soon as it is known who is the main worker."""

    def __init__(self, tell: Callable[[str], None] = lambda _: None) -> None:
        """`tell`: what the job's page is to show."""
        self._tell = tell
        self._is_main: Callable[[], bool] | None = None
        self._said: list[str] = []
        self._parameters: dict[nn.Parameter, torch.device] = {}
        self._frozen: list[bool] = []
        self._is_sharded = False  # the platform replaces parameters, and has a process group
        self._groups: dict[torch.optim.Optimizer, list[int]] = {}
        self._reads: dict[str, str] = {}
        self._has_told_batch_size = False

    def warn(self, text: str, section: Section) -> None:
        message = f"{text} (See {section}.)"
        if message not in self._said:
            self._said.append(message)
            if self._is_main is not None and self._is_main():
                self._spread(message)

    def begin(self, is_main: Callable[[], bool]) -> None:
        """The worker is in a generation: say what there was to say so far."""
        self._tell_early_reads()
        self._is_main = is_main
        for message in self._said if is_main() else ():
            self._spread(message)

    def _spread(self, message: str) -> None:
        """First to the job's page: where warnings are errors, saying it ends the script."""
        self._tell(message)
        _say(message)

    # -- at `register` -------------------------------------------------------------------------

    def check_registration(
        self,
        model: nn.Module,
        optimizers: Sequence[torch.optim.Optimizer],
        schedulers: Iterable[Any],
        *,
        is_sharded: bool = False,
    ) -> None:
        """Raises ScriptError when these objects do not belong together."""
        self._is_sharded = is_sharded
        self._frozen = [not parameter.requires_grad for parameter in model.parameters()]
        self._parameters = {parameter: parameter.device for parameter in model.parameters()}
        self._groups = {optimizer: _group_sizes(optimizer) for optimizer in optimizers}
        _refuse_wrappers(model)
        _refuse_parts(model)
        self._check_parameters(optimizers)
        self._check_schedulers(optimizers, [*schedulers])
        if any(isinstance(module, nn.SyncBatchNorm) for module in model.modules()):
            self.warn(
                "SyncBatchNorm needs a process group, and acts as plain batch normalisation here.",
                Section.BATCH_NORMALISATION,
            )

    def _check_parameters(self, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        updated = {p for o in optimizers for group in o.param_groups for p in group["params"]}
        if updated - self._parameters.keys():
            raise ScriptError(
                "An optimizer updates parameters that the registered model does not have. Make it"
                " of the model that is registered, after the last change of the model's layers.",
                Section.REGISTER,
            )
        forgotten = [p for p in self._parameters if p.requires_grad and p not in updated]
        if forgotten:
            self.warn(
                f"{len(forgotten)} parameters want gradients but are in no registered optimizer:"
                " they will not be trained. Register all optimizers, as a list.",
                Section.SEVERAL_MODELS,
            )

    def _check_schedulers(
        self, optimizers: Sequence[torch.optim.Optimizer], schedulers: Sequence[Any]
    ) -> None:
        """An optimizer is known by its groups, which a wrapper, as Accelerate's, shares."""
        own = [getattr(scheduler, "optimizer", None) for scheduler in schedulers]
        groups = [optimizer.param_groups for optimizer in own if optimizer is not None]
        if any(all(one is not o.param_groups for o in optimizers) for one in groups):
            raise ScriptError(
                "A scheduler moves the rate of an optimizer that is not registered. Was the"
                " optimizer made anew after the scheduler?",
                Section.REGISTER,
            )
        for optimizer in optimizers:
            has_one = hasattr(optimizer.step, "_wrapped_by_lr_sched")
            if has_one and all(one is not optimizer.param_groups for one in groups):
                self.warn(
                    "A learning rate scheduler is not registered: newcomers would begin its"
                    " schedule anew. Use job.register(model, optimizer, scheduler).",
                    Section.SCHEDULERS,
                )

    # -- before an epoch -----------------------------------------------------------------------

    def check_model(self, model: nn.Module) -> None:
        """Raises ScriptError when it is no longer the one that was registered."""
        now = {parameter: parameter.device for parameter in model.parameters()}
        if self._is_sharded:
            self._check_frozen(model)
            self._check_groups()
            return
        if now.keys() != self._parameters.keys():
            raise ScriptError(
                "The model's parameters were replaced, added or removed after job.register, and"
                " would not be synchronised. Change the model first, then register it.",
                Section.REGISTER,
            )
        if now != self._parameters:
            raise ScriptError(
                "The model was moved to another device after job.register. Move it first:"
                " model.to(job.device).",
                Section.REGISTER,
            )
        self._check_groups()

    def _check_frozen(self, model: nn.Module) -> None:
        if self._frozen != [not parameter.requires_grad for parameter in model.parameters()]:
            raise ScriptError(
                "Parameters of a sharded model were frozen or unfrozen after job.register, which"
                " fully_shard does not follow. Set requires_grad_ before.",
                Section.SHARDED_MODELS,
            )

    def _check_groups(self) -> None:
        if any(_group_sizes(optimizer) != sizes for optimizer, sizes in self._groups.items()):
            raise ScriptError(
                "An optimizer was given other parameters after job.register"
                " (optimizer.add_param_group), which newcomers would not have. Give it all"
                " parameters before; freeze those that are to be trained later, with"
                " requires_grad_(False), and unfreeze them then.",
                Section.REGISTER,
            )

    def check_process_group(self) -> None:
        """Raises ScriptError when the script has formed one."""
        is_there = torch.distributed.is_available() and torch.distributed.is_initialized()
        if is_there and self._is_sharded and torch.distributed.get_backend() == "concertina":
            return
        if is_there:
            raise ScriptError(
                "The script called torch.distributed.init_process_group: that group cannot grow or"
                " shrink, and gradients would be summed twice. Leave it out; ask job.rank and"
                " job.world_size; or run the job with `elastic: {mode: restart}`.",
                Section.DISTRIBUTED_DATA_PARALLEL,
            )

    def tell_batch_size(self, own: int | None, of_job: int) -> None:
        """Tell once that the batch is not the script's own."""
        if own is None or own == of_job or self._has_told_batch_size:
            return
        self._has_told_batch_size = True
        if self._is_main is not None and self._is_main():
            sys.stderr.write(
                f"concertina: the job's batch of {of_job} is used; the script's own batch size of"
                f" {own} counts only when it runs alone\n"
            )

    # -- the number of workers -----------------------------------------------------------------

    def note_early_read(self, name: str) -> None:
        """`job.rank` or `job.world_size` was read before there is a generation."""
        frame = sys._getframe(3)  # noqa: SLF001 - of the script, which called two methods of `Job`
        self._reads.setdefault(name, f"{frame.f_code.co_filename}:{frame.f_lineno}")

    def check_source(self, script: Path) -> None:
        """Warn if the script reads its size from the environment, which follows no change."""
        if not script.is_file():
            return
        lines = enumerate(script.read_text(errors="replace").splitlines(), 1)
        code = [(number, line) for number, line in lines if not line.lstrip().startswith("#")]
        reads = [(found[1], n) for n, line in code if (found := _READS_FIXED_SIZE.search(line))]
        if reads:
            name, number = reads[0]
            self.warn(
                f"{name} is read from the environment ({script}:{number}): an elastic job"
                " has none, for it would not follow the number of workers. Ask job.rank and"
                " job.world_size where you use them.",
                Section.NUMBER_OF_WORKERS,
            )

    def _tell_early_reads(self) -> None:
        for name, place in self._reads.items():
            self.warn(
                f"job.{name} was read before job.epochs began ({place}): it tells of one worker"
                " until then, and changes later. Read it where you use it.",
                Section.NUMBER_OF_WORKERS,
            )

    # -- in between ----------------------------------------------------------------------------

    def tell_no_step(self) -> None:
        self.warn(
            "A batch passed without optimizer.step(): nothing was learned from it. Call it once"
            " for every batch; accumulating gradients is the platform's.",
            Section.SEVERAL_BACKWARD_PASSES,
        )

    def check_validation(self, model: nn.Module, batches: int) -> None:
        """Check after an epoch of so many: Lightning, which goes by a length, may wait for more."""
        for module in model.modules():
            trainer = getattr(module, "_trainer", None)
            if not getattr(trainer, "enable_validation", False):
                continue
            every_epoch = getattr(trainer, "check_val_every_n_epoch", None) is not None
            due_at = getattr(trainer, "val_check_batch", 0)
            if every_epoch and batches < due_at < math.inf:
                self.warn(
                    f"Lightning validates after {due_at} batches, and an epoch had {batches} here:"
                    " validation_step is never called. Validate in on_train_epoch_end, on all"
                    " workers, with job.mean.",
                    Section.LIGHTNING,
                )
            return

    def tell_early_end(self, worth: float, epochs: int) -> None:
        self.warn(
            f"The script ended when its epochs were worth {worth:.1f} of the {epochs} that"
            " job.epochs is to yield: under `lr_scaling: adascale` larger batches need more of"
            " the data. If a limit such as max_epochs or num_train_epochs ended it, set it higher:"
            " job.epochs ends the training by itself.",
            Section.BATCH_SIZE,
        )

    def refuse_to_stay(self) -> NoReturn:
        """Refuse a script that goes on although its worker has been released."""
        text = "The script caught the SystemExit by which a worker leaves; it is raised once more."
        _say(f"{text} (See {Section.LEAVING}.)")
        raise SystemExit(int(ExitCode.RELEASED))


def _group_sizes(optimizer: torch.optim.Optimizer) -> list[int]:
    return [len(group["params"]) for group in optimizer.param_groups]


def _say(message: str) -> None:
    """Say it with the line of the script that is running."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame and frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    place = (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)
    warnings.warn_explicit(message, ElasticityWarning, *place)


def _refuse_wrappers(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, (nn.parallel.DistributedDataParallel, nn.DataParallel)):
            raise ScriptError(
                f"The model is wrapped in {type(module).__name__}, which would sum gradients"
                " on its own. Use job.ddp(model), or the model itself.",
                Section.DISTRIBUTED_DATA_PARALLEL,
            )


def _refuse_parts(model: nn.Module) -> None:
    """It was laid out for the workers of now, and cannot follow their number."""
    sharding = sys.modules.get("torch.distributed.tensor")  # slow to load: whoever shards has it
    if sharding is None:
        return
    for name, parameter in model.named_parameters():
        if isinstance(parameter, sharding.DTensor):
            raise ScriptError(
                f"The model is sharded already: of {name} this worker holds only a part"
                " (fully_shard, or a DTensor). Register it unsharded, with"
                " job.register(model, optimizer, shard=…): that function is called for each number"
                " of workers. Or use elastic.mode: restart with checkpoints of its own and without"
                " register.",
                Section.SHARDED_MODELS,
            )
