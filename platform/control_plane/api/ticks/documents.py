"""How much of a tick is told to whom? Jobs to their own teams, of others as much as is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rest_framework import serializers
from tenancy.access.principal import Principal

from autoscaler.control_loop.models import Tick
from autoscaler.planning.decisions.plan import Action
from control_plane.queries.ticks import KnownJob, gpus_of
from control_plane.queries.visibility import OTHER_TEAMS, sees_numbers_of
from jobs.api.serializers.vocabulary import reason_field

MOST_CHANGES: Final = 100  # of a tick in a list
_UNTOLD: Final = "What is wrong with a plan is told to admins."
_MOMENT: Final = serializers.DateTimeField()


class TickPoolSerializer(serializers.Serializer[Any]):
    pool = serializers.CharField()
    policy = serializers.CharField()
    price = serializers.FloatField(
        allow_null=True, help_text="What one more GPU would have added, in the policy's own unit."
    )
    gap = serializers.FloatField(allow_null=True, help_text="0: the plan was optimal.")
    value = serializers.FloatField(allow_null=True)
    upper_bound = serializers.FloatField(allow_null=True)
    gpus_total = serializers.IntegerField()
    gpus_used = serializers.IntegerField(help_text="By the plan.")


class TickShareSerializer(serializers.Serializer[Any]):
    """What is untold of a job is empty or null: it is another team's."""

    team = serializers.CharField(help_text="`other teams`: those of which you see no numbers.")
    job_id = serializers.CharField(allow_null=True)
    job_name = serializers.CharField(allow_null=True)
    pool = serializers.CharField(allow_null=True, help_text="null: the job was deleted.")
    gpus_before = serializers.IntegerField()
    gpus_after = serializers.IntegerField()


class TickChangeSerializer(TickShareSerializer):
    action = serializers.ChoiceField([one.value for one in Action], allow_blank=True)
    reason = reason_field(may_be_empty=True)
    message = serializers.CharField(
        help_text="Why, in words, for admins: they name jobs of all teams. A team reads its own"
        " words with its job."
    )
    gain = serializers.FloatField(
        allow_null=True, help_text="0.31: 31 % faster, as it was predicted."
    )
    stall_seconds = serializers.FloatField(allow_null=True, help_text="What it was to cost.")


class TickTeamSerializer(serializers.Serializer[Any]):
    team = serializers.CharField()
    gpus_before = serializers.IntegerField()
    gpus_after = serializers.IntegerField()


class TickSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    observe_seconds = serializers.FloatField()
    plan_seconds = serializers.FloatField()
    apply_seconds = serializers.FloatField()
    alarm = serializers.CharField(help_text="What was wrong with a plan; empty: nothing.")
    pools = TickPoolSerializer(many=True)
    changes_count = serializers.IntegerField(help_text="Of all jobs.")
    changes = TickChangeSerializer(many=True, help_text=f"At most {MOST_CHANGES} in a list.")
    teams = TickTeamSerializer(
        many=True, help_text="GPUs of all jobs; empty for ticks of a former release."
    )


class TickDetailSerializer(TickSerializer):
    jobs = TickShareSerializer(
        many=True, help_text="All that held GPUs or got some; empty for ticks of a former release."
    )


class TickPageSerializer(serializers.Serializer[Any]):
    items = TickSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class PriceSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    price = serializers.FloatField(allow_null=True)
    gap = serializers.FloatField(allow_null=True)


class PricesSerializer(serializers.Serializer[Any]):
    pool = serializers.CharField()
    policy = serializers.CharField(help_text="In whose unit the prices are, as it is now.")
    items = PriceSerializer(many=True, help_text="Oldest first, at most 600.")
    alarms = serializers.ListField(
        child=serializers.DateTimeField(), help_text="When a plan was refused; at most 100."
    )


def document(
    tick: Tick, jobs: Mapping[str, KnownJob], reader: Principal, *, is_whole: bool
) -> dict[str, Any]:
    """Tell what the reader may know of a tick; `is_whole`: of all its jobs."""
    changes = [_change(tick, one, jobs, reader) for one in tick.decisions]
    shares = [_share(job_id, held, jobs, reader) for job_id, held in tick.held.items()]
    alarm = tick.alarm if reader.is_admin or not tick.alarm else _UNTOLD
    told = {
        "id": tick.pk,
        "at": _MOMENT.to_representation(tick.at),
        "observe_seconds": tick.observe_seconds,
        "plan_seconds": tick.plan_seconds,
        "apply_seconds": tick.apply_seconds,
        "alarm": alarm,
        "pools": [_pool(pool) for pool in tick.pools],
        "changes_count": len(changes),
        "changes": changes if is_whole else changes[:MOST_CHANGES],
        "teams": _teams(shares),
    }
    return {**told, "jobs": shares} if is_whole else told


def _pool(outcome: Mapping[str, Any]) -> dict[str, Any]:
    numbers = ("price", "gap", "value", "upper_bound")
    return {
        "pool": outcome["pool"],
        "policy": outcome.get("policy", ""),
        **{name: outcome.get(name) for name in numbers},
        **{name: outcome.get(name, 0) for name in ("gpus_total", "gpus_used")},
    }


def _change(
    tick: Tick, decision: Mapping[str, Any], jobs: Mapping[str, KnownJob], reader: Principal
) -> dict[str, Any]:
    share = _share(decision["job_id"], gpus_of(tick, decision), jobs, reader)
    is_told = share["job_id"] is not None
    explanation = decision.get("explanation") or {}
    return {
        **share,
        "action": decision["action"] if is_told else "",
        "reason": decision.get("reason", "") if is_told else "",
        "message": decision.get("message", "") if reader.is_admin else "",
        "gain": explanation.get("gain") if is_told else None,
        "stall_seconds": explanation.get("stall_seconds") if is_told else None,
    }


def _share(
    job_id: str, gpus: tuple[int, int] | list[int], jobs: Mapping[str, KnownJob], reader: Principal
) -> dict[str, Any]:
    """Return whose it is; of a job that was deleted only admins are told which."""
    known = jobs.get(job_id)
    is_told = reader.is_admin or (known is not None and known.team in reader.seen)
    is_shown = known is not None and sees_numbers_of(reader, known.team)
    return {
        "team": known.team if known is not None and is_shown else OTHER_TEAMS,
        "job_id": job_id if is_told else None,
        "job_name": known.name if known is not None and is_told else None,
        "pool": known.pool if known is not None else None,
        "gpus_before": gpus[0],
        "gpus_after": gpus[1],
    }


def _teams(shares: list[dict[str, Any]]) -> list[dict[str, Any]]:
    sums: dict[str, list[int]] = {}
    for share in shares:
        both = sums.setdefault(share["team"], [0, 0])
        both[0] += share["gpus_before"]
        both[1] += share["gpus_after"]
    return [
        {"team": team, "gpus_before": before, "gpus_after": after}
        for team, (before, after) in sorted(sums.items())
    ]
