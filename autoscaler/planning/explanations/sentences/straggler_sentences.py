"""How is a slow worker said to people? How slow it is, and whether something can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoscaler.planning.explanations.sentences.wording import percent

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Substitution
    from autoscaler.planning.snapshot.cluster_state import Straggler


def replaced(substitution: Substitution) -> str:
    slow = substitution.straggler
    where = "on another GPU of node" if substitution.node == slow.node else "on node"
    return (
        f"Replaces {slow.worker_id}, {_how_slow(slow)}: a substitute starts {where} "
        f"{substitution.node}, and the slow worker leaves when that is ready."
    )


def stays(slow: Straggler) -> str:
    problem = (
        "no GPU that may replace it is free"
        if slow.may_be_replaced
        else "replacing others within the last hour has not helped"
    )
    return f"{slow.worker_id} is {_how_slow(slow)}; {problem}."


def _how_slow(slow: Straggler) -> str:
    return f"{percent(1 - slow.relative_speed)} slower than the job's median worker"
