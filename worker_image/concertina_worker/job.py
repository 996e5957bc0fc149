"""What does a training script see of the platform? An `ElasticJob`.

Outside the platform (`python train.py`) the same script runs with one worker: see `wiring`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from concertina_worker.batch.learning_rate import CustomScaling
from concertina_worker.environment import WorkerEnvironment
from concertina_worker.manual import Section
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.samples.drawn import DrawnSamples
from concertina_worker.samples.source import DEFAULT_BATCH, Collate, source_of
from concertina_worker.state.several import Several
from concertina_worker.state.training_state import Stateful
from concertina_worker.training.distributed_model import DistributedModel
from concertina_worker.training.ending import TrainingEnd
from concertina_worker.training.epochs import Epochs
from concertina_worker.training.script_checks.pitfalls import Pitfalls, ScriptError
from concertina_worker.training.script_objects.registration import Registration
from concertina_worker.training.script_objects.sharding import Sharding
from concertina_worker.training.script_objects.warm_up import WarmUp
from concertina_worker.wire import FromWorker


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescale:
    """What a generation that has just begun is like."""

    rank: int
    world_size: int
    global_batch_size: int


class ElasticJob:
    """The script's side of an elastic training job.

    The loss of a micro-batch must be the *mean* over its samples (the default of torch's losses),
    and `backward()` must run once per micro-batch, except inside `job.step()`.
    """

    def __init__(
        self,
        environment: WorkerEnvironment,
        membership: WorkerMembership | Alone,
        device: torch.device,
        ending: TrainingEnd,
    ) -> None:
        self._device = device
        self._membership = membership
        self._ending = ending
        self._pitfalls = Pitfalls(lambda text: membership.tell(FromWorker.WARNING, text=text))
        self._registration = Registration(environment, membership, self._pitfalls)
        self._registered: Epochs | None = None
        if isinstance(membership, WorkerMembership):
            self._pitfalls.check_source(Path(getattr(sys.modules["__main__"], "__file__", "")))

    # -- where this worker stands --------------------------------------------------------------

    @property
    def rank(self) -> int:
        self._note_read("rank")
        return self._membership.rank

    @property
    def world_size(self) -> int:
        self._note_read("world_size")
        return self._membership.size

    @property
    def is_main(self) -> bool:
        """One worker of each generation is: let it alone print and save."""
        self._note_read("is_main")
        return self._membership.rank == 0

    @property
    def device(self) -> torch.device:
        """Return where model and micro-batches belong: on this worker's first GPU, else the CPU.

        A worker with several GPUs sees them all, as `cuda:0`, `cuda:1` and so on; to use more
        than the first is up to the script.
        """
        return self._device

    @property
    def progress(self) -> float:
        """Epochs trained so far: 2.5 in the middle of the third. For schedules in samples.

        What an epoch leaves out (`drop_last`, `break`) counts when it is over. Under
        `lr_scaling: adascale` what the steps so far are worth in epochs of the base batch.
        Of a stream whose length is not known whole epochs count, each when it is over.
        """
        return self._registered.loop.state.schedule.epochs if self._registered else 0.0

    # -- what a script calls, in order ---------------------------------------------------------

    def register(
        self,
        model: Several[torch.nn.Module],
        optimizer: Several[torch.optim.Optimizer],
        scheduler: Several[Stateful] | None = None,
        *,
        warm_up: WarmUp | None = None,
        lr_scaling: CustomScaling | None = None,
        data: Any = None,
        shard: Callable[[torch.nn.Module, Any], object] | None = None,
        init: Callable[[torch.nn.Module], object] | None = None,
    ) -> None:
        """Hand over what makes up the training's state.

        From here on `optimizer.step()` does nothing except at the last micro-batch of a step,
        `optimizer.zero_grad()` nothing at all, and `scheduler.step()` inside an epoch counts
        steps of the base batch: four after one step of a batch four times as large, so that a
        schedule reaches the same rate at the same sample whatever the platform does.
        Each may be one object, or a list or a dictionary of several.

        Args:
            model: on its device; with the weights to start from if there is no checkpoint.
            optimizer: of this model's parameters.
            scheduler: of the optimizer's learning rate, which the platform multiplies on top.
            warm_up: runs the model forward and backward once on any input. A worker that joins
                later calls it before the others wait for it, so that its first step is not slow.
                When it takes an argument, that is a number of samples to run with, at first the
                base batch, then fewer if they do not fit into memory.
            lr_scaling: for jobs that say `lr_scaling: custom`: by what the learning rate is
                multiplied, given a batch and the base batch the rate was chosen for.
            data: the `DataLoader` that `batches` will be given. A worker that joins later starts
                its loading processes before the others wait for it.
            shard: lays out a model of which each worker is to hold a part, by calling
                `fully_shard(…, mesh=mesh)`. Called with the model and a mesh of the workers, at
                each number of workers anew; the modules stay, their parameters are other objects.
            init: for a model to be sharded that was made on PyTorch's device `meta`: gives it its
                first values, once it is sharded.
        """
        sharding = Sharding.of(shard, init, self._device)
        loop = self._registration.make_loop(
            model,
            optimizer,
            scheduler,
            lr_scaling=lr_scaling,
            sharding=sharding,
            on_commit=self._ending.progress.add,
        )
        self._ending.loop = loop
        self._registered = Epochs(loop, self._membership, self._pitfalls, self._ending)
        self._registration.take_over(loop, warm_up, data)

    def ddp(self, model: torch.nn.Module) -> DistributedModel:
        """Return what to write for `DistributedDataParallel(model)`; register it like any model."""
        return DistributedModel(model, lambda: self._epochs.loop.holding_back())  # noqa: PLW0108 - later

    def state(
        self, name: str, extra: Stateful, *, once_per_step: tuple[str, ...] | str = ()
    ) -> None:
        """Keep another object (a weight average, a loss scaler) with the training's state.

        Args:
            name: its own among all that is kept.
            extra: the object.
            once_per_step: the methods by which it follows the training, for instance
                `("update",)`. However often the script calls them, inside an epoch they run once
                per step, at its last micro-batch, on every worker. A method called `step`, and
                those of PyTorch's `GradScaler` and `AveragedModel`, need no mention.

        Raises:
            ScriptError: it has no such method, or comes when training has begun: what a checkpoint
                or the others hold of it would be missed.
        """
        if self._ending.has_entered:
            raise ScriptError(
                f"job.state({name!r}, …) was called after job.epochs began: what a checkpoint or"
                " other workers hold of it is not restored then. Call it before.",
                Section.STATE,
            )
        methods = (once_per_step,) if isinstance(once_per_step, str) else once_per_step
        self._registration.add(name, extra, methods)

    def on_rescale(self, callback: Callable[[Rescale], None]) -> None:
        """Be called whenever a generation has begun, between two steps."""
        self._epochs.loop.on_rescale.append(
            lambda: callback(
                Rescale(
                    rank=self.rank,
                    world_size=self.world_size,
                    global_batch_size=self._epochs.loop.global_batch_size,
                )
            )
        )

    def finish(self) -> None:
        """Say that the training is over although epochs are left: early stopping, a limit of steps.

        The loop over `epochs` ends with the epoch it is in; `break` leaves that at once. Workers
        have to agree, as all do that decide by `job.mean`. A script that ends without it before its
        epochs are through has ended early, and its job has failed unless it says
        `early_end: completed`.
        """
        self._ending.is_wanted = True

    def epochs(self, total: int) -> Iterator[int]:
        """The epochs that are left to do: all of them, or what a checkpoint or joiner lacks.

        A worker joins here, and leaves by `SystemExit` inside `batches`.
        """
        yield from self._epochs.left_of(total)

    def batches(
        self, data: Any, batch_size: int | None = None, collate: Collate | None = None
    ) -> Iterator[Any]:
        """This worker's micro-batches of one epoch.

        Call it once per epoch. The body runs in every step on every worker: one without samples
        is given some whose gradient goes nowhere, and so is one for which nothing is left of the
        epoch, because code after the loop may use what its body assigns.

        Args:
            data: a data set, used in random order; a stream (an `IterableDataset`), used in its
                own; or a `DataLoader` of either, of which all but the batches is kept.
            batch_size: used alone only; on the platform the platform chooses the batch.
            collate: makes a micro-batch of a list of samples; default: torch's.

        Raises:
            DataError: the data cannot be divided, or are empty.
            DataMismatchError: the epoch began with other data.
        """
        source = source_of(data, batch_size, collate)
        own_size = batch_size if source.dataset is data else source.batch_size
        yield from self._epochs.micro_batches(source, own_size)

    def steps(
        self, total: int, draw: Callable[[], Any], batch_size: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        """The number of each step that is left to do, and this worker's micro-batches of it.

        For scripts that know no epochs. Steps are those of the base batch: one with a batch four
        times as large counts four, so what follows the number (a learning rate) follows samples.

        Args:
            total: how many there are.
            draw: returns a random sample, drawn by the generators of PyTorch, Python or NumPy.
            batch_size: the base batch, where no platform knows of one.
        """
        loop = self._epochs.loop
        drawn = DrawnSamples(draw, total * loop.rates.base_batch(batch_size or DEFAULT_BATCH))
        for _ in self.epochs(1):
            for micro_batch in self.batches(drawn, batch_size):
                yield loop.position.steps_made, micro_batch

    def every(self, steps: int) -> bool:
        """True on all workers once in so many steps, behind `optimizer.step()`.

        What a script does then, the main worker alone, say, may take long; the others wait.
        """
        return self._epochs.loop.position.completes(steps)

    def step(self) -> AbstractContextManager[None]:
        """Enclose all backward passes of one micro-batch, where there are several.

        Inside, gradients are this worker's own and add up as autograd does it; they are exchanged
        where the block of a step's last micro-batch ends. So clip them and call
        `optimizer.step()` behind the block. A script with one `backward()` per micro-batch needs
        no block, and is faster without: its exchange runs during the backward pass.
        """
        return self._epochs.loop.several_backwards()

    def log(self, **values: float) -> None:
        """Show these with the next report (at most one a second); the main worker's count.

        Checkpoints tell the newest of each. One that `checkpoint.keep_best` asks for is written
        at once when a value is among the best: log that where you validate, not in every step.
        """
        self._ending.progress.log(values)
        if self._registered:
            self._registered.loop.log(values)

    def mean(self, value: float) -> float:
        """The mean over all workers that compute. All must call it, at the same place.

        Newcomers get it, too; but their own values do not count before they have the whole state.

        Inside `batches` it is that only at the last micro-batch of a step, where all workers come
        by equally often; at any other it is this worker's own value.

        When a worker is lost during the call, some of the others may have received the mean
        already; every other gets its own value, here and until they meet again, at the next
        epoch's first step. There they agree again on what `register` and `state` were given; so
        decide on ending early by that, not by the value.

        Raises:
            ElsewhereError: others have gone on to their next epoch without calling it.
        """
        line = sys._getframe(1).f_lineno  # noqa: SLF001 - of the script
        return self._registered.loop.mean(value, line=line) if self._registered else value

    # -- in detail -----------------------------------------------------------------------------

    @property
    def _epochs(self) -> Epochs:
        if self._registered is None:
            raise ScriptError("Call job.register(model, optimizer) first.", Section.REGISTER)
        return self._registered

    def _note_read(self, name: str) -> None:
        if isinstance(self._membership, WorkerMembership) and self._membership.generation == 0:
            self._pitfalls.note_early_read(name)
