"""What is the state of a training? All that a joiner, a laggard or a resumed job must be given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import torch
from torch.optim.swa_utils import AveragedModel

from concertina_worker.batch.learning_rate import Ramp
from concertina_worker.batch.noise_scale import NoiseAverage
from concertina_worker.batch.schedule import Schedule
from concertina_worker.device import random_state
from concertina_worker.device.host_copy import copied
from concertina_worker.samples.cursor import Cursor
from concertina_worker.samples.stream_place import StreamPlace
from concertina_worker.state import optimizer_state
from concertina_worker.state.description import Description, check_same, describe
from concertina_worker.state.parts import Parts
from concertina_worker.state.plain_names import check_fit, plain_names, skipped_names


class Stateful(Protocol):
    """Anything that can be saved: a scheduler, an average of weights, a loss scaler."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any: ...


class TrainingState:
    """The script's objects and how far they have come."""

    def __init__(
        self,
        model: torch.nn.Module,
        optimizers: Sequence[torch.optim.Optimizer],
        extras: dict[str, Stateful],
        parts: Parts | None = None,
    ) -> None:
        """Nothing is taken yet.

        Args:
            model: with the script's weights.
            optimizers: of its parameters.
            extras: may grow until training begins; schedulers are among them.
            parts: what this worker holds of a model of which none holds all.
        """
        self.model = model
        self.optimizers = tuple(optimizers)
        self.extras = extras
        self.parts = parts
        self.cursor = Cursor()
        self.step = 0
        self.samples = 0
        self.ramp = Ramp()
        self.schedule = Schedule()
        self.schedule_at_epoch = Schedule()  # when the present epoch began
        self.noise = NoiseAverage()
        self.trained: tuple[bool, ...] | None = None  # by parameter; None: not settled yet
        self.stream_place = StreamPlace(lambda: self.cursor)
        self.steps_ahead = 0  # for which samples may be loaded: a switch waits for them
        self.is_complete = False  # holds the state of a training, not just fresh weights
        self._allocated: list[torch.optim.Optimizer] = []  # hold room, which means nothing yet
        self._kept: dict[str, Any] | None = None  # while another's state arrives

    @property
    def model_bytes(self) -> int:
        if self.parts is not None:
            return self.parts.model_bytes
        tensors = [*self.model.parameters(), *self.model.buffers()]
        return sum(t.nbytes for t in [*tensors, *self._optimizer_tensors()])

    def allocate(self) -> None:
        """Make room for what is to come, where the script has not loaded any state."""
        if self.parts is not None:
            return
        self._allocated = [one for one in self.optimizers if optimizer_state.allocate(one)]

    @cached_property
    def description(self) -> Description:
        """A description of what does not change once training has begun."""
        return describe(self.model, self.optimizers, self._averages)

    # -- between workers -----------------------------------------------------------------------

    def header(self) -> dict[str, Any]:
        """Everything but the large tensors."""
        return {
            **self._progress(),
            "description": self.description,
            "hyperparameters": [optimizer_state.hyperparameters(o) for o in self.optimizers],
            "optimizer_shapes": []
            if self.parts
            else [*map(optimizer_state.shapes, self.optimizers)],
            "extras": {
                name: extra.state_dict()
                for name, extra in self.extras.items()
                if not isinstance(extra, AveragedModel)
            },
        }

    def take_header(self, header: dict[str, Any]) -> None:
        """Be where the sender is, and make room for its tensors, which are to follow.

        Raises OtherModelError when they would find none here.
        """
        check_same(self.description, header["description"])
        self._set_progress(header)
        for optimizer, hyperparameters in zip(
            self.optimizers, header["hyperparameters"], strict=True
        ):
            optimizer_state.set_hyperparameters(optimizer, hyperparameters)
        for optimizer, shapes in zip(self.optimizers, header["optimizer_shapes"], strict=False):
            optimizer_state.make_room(optimizer, shapes)
        self._load_extras(header["extras"])

    def tensors(self) -> list[torch.Tensor]:
        """Return what changes in an optimizer step, in the same order everywhere.

        Parameters of no optimizer are among them, which the script may change at other times.
        """
        averages = self._averages.values()
        averaged = [t for a in averages for t in (*a.parameters(), *a.buffers())]
        return [*self.model.parameters(), *self._optimizer_tensors(), *averaged]

    def parameters_of_no_optimizer(self) -> list[torch.Tensor]:
        """Frozen ones, or those of a teacher that follows the weights in the script's own way."""
        moved = {id(p) for o in self.optimizers for p in optimizer_state.parameters(o)}
        return [p for p in self.model.parameters() if id(p) not in moved]

    def buffers(self) -> list[torch.Tensor]:
        """Return what changes in a forward pass: running averages of normalisation layers."""
        return list(self.model.buffers())

    def keep(self) -> None:
        """Keep what it holds until another's state `has_arrived`: the sender may be lost."""
        if self._kept is not None:
            return
        content = self._content()
        if not self.is_complete:
            content["optimizers"] = [
                {**kept, "state": {}} if optimizer in self._allocated else kept
                for optimizer, kept in zip(self.optimizers, content["optimizers"], strict=True)
            ]
        self._kept = {**copied(content), "is_complete": self.is_complete}
        self.is_complete = False

    def go_back(self) -> None:
        """Go back to what was kept: a state of which only a part has arrived is none."""
        kept, self._kept = self._kept, None
        if kept is not None:
            self.load_checkpoint(kept)
            self.is_complete = kept["is_complete"]

    def has_arrived(self) -> None:
        """All of another worker's state."""
        self.is_complete = True
        self._kept = None

    # -- over time -----------------------------------------------------------------------------

    def begin_afresh(self) -> None:
        """Start a training from what the script has made or loaded."""
        for optimizer in self._allocated:
            optimizer.state.clear()
        self.is_complete = True

    def begin_with(
        self, weights: Mapping[str, torch.Tensor], *, skip: Collection[str] = ()
    ) -> None:
        """Start a training from weights by plain names, but for those that a pattern skips.

        Raises:
            WeightsMismatchError: they are not those of the script's model.
        """
        self.model.load_state_dict(self._fitting(weights, skip))
        self.begin_afresh()

    def go_on_from(self, checkpoint: dict[str, Any]) -> None:
        """Go on with the training of another job, whose model may have been wrapped otherwise.

        Raises:
            WeightsMismatchError: its model is not the script's.
            CheckpointMismatchError: its optimizer or something else is not.
        """
        plain = checkpoint["plain_names"]
        weights = {plain[name]: value for name, value in checkpoint["model"].items()}
        self.load_checkpoint({**checkpoint, "model": self._fitting(weights)})

    def rest_for_checkpoint(self) -> dict[str, Any]:
        """A copy of all that is not in parts."""
        content: dict[str, Any] = copied(
            {
                **self._progress(),
                "hyperparameters": [optimizer_state.hyperparameters(o) for o in self.optimizers],
                "extras": {name: extra.state_dict() for name, extra in self.extras.items()},
                "random": random_state.take(),
            }
        )
        return content

    def load_rest(self, checkpoint: dict[str, Any]) -> None:
        """Raises CheckpointMismatchError when the script's objects are others now."""
        try:
            for optimizer, hyperparameters in zip(
                self.optimizers, checkpoint["hyperparameters"], strict=True
            ):
                optimizer_state.set_hyperparameters(optimizer, hyperparameters)
            self._load_extras(checkpoint["extras"])
        except (RuntimeError, ValueError, KeyError) as error:
            raise CheckpointMismatchError(step=checkpoint["step"], detail=str(error)) from error
        self._set_progress(checkpoint)
        random_state.restore(checkpoint["random"])

    def to_checkpoint(self) -> dict[str, Any]:
        """A copy that training on does not change."""
        copy: dict[str, Any] = copied(self._content())
        return {**copy, "plain_names": plain_names(self.model)}

    def _content(self) -> dict[str, Any]:
        return {
            **self._progress(),
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "extras": {name: extra.state_dict() for name, extra in self.extras.items()},
            "random": random_state.take(),
        }

    def load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Raises CheckpointMismatchError when the script's objects have other shapes now."""
        try:
            self.model.load_state_dict(checkpoint["model"])
            for optimizer, state in zip(self.optimizers, checkpoint["optimizers"], strict=True):
                optimizer.load_state_dict(state)
            self._load_extras(checkpoint["extras"])
        except (RuntimeError, ValueError, KeyError) as error:
            raise CheckpointMismatchError(step=checkpoint["step"], detail=str(error)) from error
        self._set_progress(checkpoint)
        random_state.restore(checkpoint["random"])
        self.is_complete = True

    def _progress(self) -> dict[str, Any]:
        return {
            "cursor": self.cursor,
            "step": self.step,
            "samples": self.samples,
            "ramp": self.ramp,
            "schedule": self.schedule,
            "schedule_at_epoch": self.schedule_at_epoch,
            "noise": self.noise,
            "trained": self.trained,
            "is_frozen": [not parameter.requires_grad for parameter in self.model.parameters()],
            "steps_ahead": self.steps_ahead,
            "stream_place": self.stream_place.get(),
        }

    def _set_progress(self, progress: dict[str, Any]) -> None:
        self.cursor = progress["cursor"]
        self.step = progress["step"]
        self.samples = progress["samples"]
        self.ramp = progress["ramp"]
        self.schedule = progress["schedule"]
        self.schedule_at_epoch = progress["schedule_at_epoch"]
        self.noise = progress["noise"]
        self.trained = progress["trained"]
        for parameter, is_frozen in zip(
            self.model.parameters(), progress["is_frozen"], strict=True
        ):
            parameter.requires_grad_(not is_frozen)
        self.steps_ahead = progress["steps_ahead"]
        self.stream_place.set(progress["stream_place"])

    @property
    def _averages(self) -> dict[str, AveragedModel]:
        return {name: a for name, a in self.extras.items() if isinstance(a, AveragedModel)}

    def _optimizer_tensors(self) -> list[torch.Tensor]:
        return [t for optimizer in self.optimizers for t in optimizer_state.tensors(optimizer)]

    def _fitting(
        self, weights: Mapping[str, torch.Tensor], skip: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return what the model is to hold, by its own names; only tensors have to be given."""
        own, plain = self.model.state_dict(), plain_names(self.model)
        tensors = {plain[name]: one for name, one in own.items() if isinstance(one, torch.Tensor)}
        given = {name: one for name, one in weights.items() if isinstance(one, torch.Tensor)}
        skipped = skipped_names(skip, {*tensors, *given})
        for name in skipped:
            tensors.pop(name, None)
            given.pop(name, None)
        check_fit(tensors, given)
        for name in own:
            if plain[name] not in skipped:
                own[name] = weights.get(plain[name], own[name])
        return own

    def _load_extras(self, states: dict[str, dict[str, Any]]) -> None:
        for name, extra in self.extras.items():
            if name in states:
                extra.load_state_dict(states[name])


class CheckpointMismatchError(Exception):
    """The checkpoint does not fit the model or optimizer the script has made."""

    def __init__(self, *, step: int, detail: str) -> None:
        super().__init__(
            f"The checkpoint of step {step} does not fit the model or optimizer that the script "
            f"makes now. Was the script changed? Bring it back, or submit it as a new job, which "
            f"begins without checkpoints. ({detail})"
        )
        self.step = step
        self.detail = detail
