"""Is the stored spec one that can be submitted again and again, and what is submitted of it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from tenancy.models import Team

from jobs.admission import call
from jobs.admission.pool_capacity import PoolCapacity
from jobs.errors import Problem, SpecInvalid
from jobs.spec.arrays import expansion

_DEADLINE_OF_TEAM: Final = Problem(
    field="deadline",
    value=None,
    problem="comes with the template, or from the team's rules, and is one moment, whereas a"
    " schedule submits again and again",
    remedy="Write null for it: then its jobs have none.",
)
LONGEST_NAME: Final = 55  # of a job, so that a moment fits behind it, and the number of a trial


def checked(
    document: object, *, team: Team, pools: Sequence[PoolCapacity], now: datetime
) -> tuple[dict[str, Any], str, Sequence[str]]:
    """Return the spec with its team, the digest of its code, and what its user should know.

    It is admitted as if it was due now, and not submitted.

    Raises:
        SpecInvalid: with every problem found.
    """
    spec = _of_team(document, team)
    if found := [*_unrepeatable(spec)]:
        raise SpecInvalid(found)
    sent = expansion.read_one(dated(spec, now))
    admitted = call.admit_all(sent, teams={team.name: team}, pools=pools)
    if any(one.spec.deadline is not None for one in admitted.specs):
        raise SpecInvalid([_DEADLINE_OF_TEAM])
    digests = {one.spec.code.digest or "" for one in admitted.specs if one.spec.code is not None}
    return spec, next(iter(digests), ""), admitted.notes


def dated(
    spec: Mapping[str, Any], due_at: datetime, *, is_asked_for: bool = False
) -> dict[str, Any]:
    """Return the spec as it is submitted for one moment: its name ends with it, in UTC.

    So no two of its jobs have the same name, in no hour that a zone has twice either. What somebody
    asks for has milliseconds.
    """
    at = due_at.astimezone(UTC)
    fine = f"{at:%S}{at.microsecond // 1000:03}" if is_asked_for else ""
    return {**spec, "name": f"{spec['name']}-{at:%Y%m%dT%H%M}{fine}Z"}


def _of_team(document: object, team: Team) -> dict[str, Any]:
    if not isinstance(document, Mapping):
        raise SpecInvalid([_problem("", None, "is not a mapping of fields", "Send a job spec.")])
    spec = {str(name): part for name, part in document.items() if name != "project"}
    named = document.get("team") or document.get("project")
    if named and named != team.name:
        raise SpecInvalid(
            [
                _problem(
                    "team",
                    named,
                    f"is not {team.name}, whose schedule it is",
                    "Leave it out, or add the schedule to that team.",
                )
            ]
        )
    return {**spec, "team": team.name}


def _unrepeatable(spec: Mapping[str, Any]) -> Sequence[Problem]:
    """Find what can be asked for once only."""
    found = []
    name = spec.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        found.append(
            _problem(
                "name",
                name,
                f"is not a name of 1 to {LONGEST_NAME} characters",
                "Name its jobs; the moment for which each is submitted is put behind it.",
            )
        )
    if spec.get("sweep") is not None:
        found.append(
            _problem(
                "sweep",
                None,
                "searches for values, and a schedule submits jobs whose values are known",
                "Submit the sweep once, and have the best values submitted by the schedule.",
            )
        )
    if spec.get("deadline") is not None:
        found.append(
            _problem(
                "deadline",
                spec["deadline"],
                "is one moment, and a schedule submits again and again",
                "Leave it out.",
            )
        )
    return found


def _problem(field: str, value: object, problem: str, remedy: str) -> Problem:
    return Problem(field=field, value=value, problem=problem, remedy=remedy)
