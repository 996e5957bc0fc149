"""What have all members agreed on for the steps that come?

Who computes with which batch (`data.step_plan`), and after which step they switch to another plan.
All decide from the same sums after the same step, so all hold the same answer.
"""

from __future__ import annotations

from concertina_worker.membership.agreement import AgreedSums, SwitchOffer
from concertina_worker.membership.coordinator_link.preparations import PreparedPlan
from concertina_worker.plan import GenerationPlan
from concertina_worker.samples.step_plan import Segment, StepPlan


class ComingSteps:
    """The steps of the running generation, and up to the next."""

    def __init__(self, worker: str) -> None:
        self.step_plan = StepPlan.steady(1, worker)
        self.awaits_joiners = False  # of this generation: they do not compute, they miss some state
        self._members: tuple[str, ...] = ()
        self._offered: PreparedPlan | None = None
        self._agreed: PreparedPlan | None = None
        self._switch_at = 0  # steps of the job before the switch agreed on

    def begin(self, plan: GenerationPlan, *, step: int) -> None:
        """A generation begins."""
        self.step_plan = StepPlan((_segment_of(plan, step),))
        self.awaits_joiners = plan.stayers != plan.members
        self._members = plan.members

    @property
    def is_switch_agreed(self) -> bool:
        return self._agreed is not None

    def offer(self, prepared: PreparedPlan | None, *, generation: int) -> SwitchOffer:
        """Offer to switch from this generation to what is prepared, if that comes next."""
        is_next = (
            prepared is not None
            and not self.is_switch_agreed
            and prepared.plan.generation > generation
            and not prepared.plan.is_recovery
        )
        self._offered = prepared if is_next else None
        return SwitchOffer(self._offered.plan.generation - generation if self._offered else 0)

    def decide(self, tally: AgreedSums, *, first_step: int) -> None:
        """A step is committed; nobody has loaded samples for this step, which is to come."""
        if self.awaits_joiners and tally.is_complete(len(self._members)):
            self.welcome_joiners(first_step=first_step)
        if self._offered and not self.is_switch_agreed and tally.is_unanimous(len(self._members)):
            self._agreed = self._offered
            self._switch_at = first_step
            self.step_plan = self.step_plan.then(_segment_of(self._agreed.plan, first_step))

    def welcome_joiners(self, *, first_step: int) -> None:
        """They have the state: from this step on they compute as well."""
        self.awaits_joiners = False
        self.step_plan = self.step_plan.welcome(*self._members, first_step=first_step)

    def take_due(self, *, step: int, is_epoch_new: bool) -> PreparedPlan | None:
        """The switch agreed on, when it is time; nothing is loaded ahead beyond an epoch's end."""
        agreed = self._agreed
        if agreed is None or not (step >= self._switch_at or is_epoch_new):
            return None
        self._offered = self._agreed = None
        return agreed

    def give_up(self) -> None:
        """A member is lost: the group agreed on may not come about any more."""
        if self._agreed is not None and self._agreed.group is not None:
            self._agreed.group.wires.cut()
        self._offered = self._agreed = None


def _segment_of(plan: GenerationPlan, step: int) -> Segment:
    """The step plan of a generation that begins at this step, until joiners have the state, too."""
    return Segment(
        first_step=step,
        batch_size=plan.global_batch_size,
        workers=plan.stayers,
        batch_limit=plan.batch_limit,
    )
