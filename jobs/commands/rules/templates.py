"""Which templates does a team have? Whoever sets up the team adds, changes and deletes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal
from tenancy.audit import records
from tenancy.models import Team

from jobs.admission.rules import line
from jobs.errors import (
    RulesNotYours,
    SpecInvalid,
    TemplateChangedMeanwhile,
    TemplateNameTaken,
    TemplateNotFound,
    TooManyTemplates,
)
from jobs.models import JobTemplate
from jobs.spec.job_spec import without_aliases
from jobs.spec.rules import rule_set

MOST_OF_TEAM: Final = rule_set.MOST_TEMPLATES


def all_of(team: Team) -> Sequence[JobTemplate]:
    """Return those that jobs of the team may use, by name: its own, and those of teams above."""
    return line.templates_of(line.read(team))


def find(team: Team, name: str) -> JobTemplate:
    """Return the one that a job of the team gets by this name. Raises: TemplateNotFound."""
    found = line.templates_of(line.read(team), {name})
    if not found:
        raise TemplateNotFound(f"Team {team.name} has no template {name!r}.")
    return found[0]


def may_change(principal: Principal, template: JobTemplate) -> bool:
    """Tell whether they may change it, which is of the team that has it."""
    return principal.may_in(Permission.SET_UP, template.team_id)


def add(
    principal: Principal, team: Team, *, name: str, description: str, spec: object
) -> JobTemplate:
    """Add a template to a team.

    Raises: RulesNotYours, SpecInvalid, TemplateNameTaken, TooManyTemplates.
    """
    check_may(principal, team)
    made = JobTemplate(
        team=team,
        name=name,
        description=description,
        spec=checked(spec),
        changed_by=principal.name,
    )
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).only("pk").get(pk=team.pk)
        names = set(JobTemplate.objects.filter(team=team).values_list("name", flat=True))
        if name in names:
            raise TemplateNameTaken
        if len(names) >= MOST_OF_TEAM:
            raise TooManyTemplates
        made.save(force_insert=True)
    records.note_target(target=f"teams/{team.name}/templates/{name}")
    records.note_change(after=_told(made))
    return made


def change(
    principal: Principal, team: Team, name: str, changes: Mapping[str, Any], *, version: int
) -> JobTemplate:
    """Change a template of the team itself; jobs that were submitted stay as they are.

    Raises: RulesNotYours, TemplateNotFound, TemplateChangedMeanwhile, SpecInvalid.
    """
    check_may(principal, team)
    columns = dict(changes)
    if "spec" in columns:
        columns["spec"] = checked(columns["spec"])
    with transaction.atomic():
        held = _held(team, name)
        if held.version != version:
            raise TemplateChangedMeanwhile(
                f"Template {name} has version {held.version} now, not {version}: somebody has"
                " changed it. Read it again, then change it."
            )
        before = _told(held)
        if any(getattr(held, column) != value for column, value in columns.items()):
            for column, value in columns.items():
                setattr(held, column, value)
            held.version, held.changed_by = held.version + 1, principal.name
            held.save()
    records.note_change(before=before, after=_told(held))
    return held


def remove(principal: Principal, team: Team, name: str) -> None:
    """Delete a template of the team itself; jobs that began with it stay as they are.

    Raises: RulesNotYours, TemplateNotFound.
    """
    check_may(principal, team)
    with transaction.atomic():
        held = _held(team, name)
        records.note_change(before=_told(held))
        held.delete()


def checked(spec: object) -> dict[str, Any]:
    """Return a part of a spec as it is stored. Raises: SpecInvalid."""
    if problems := rule_set.check_partial(spec, "spec"):
        raise SpecInvalid(problems)
    return without_aliases(spec)  # type: ignore[arg-type]  # checked


def _held(team: Team, name: str) -> JobTemplate:
    """Return it as it is now; nobody changes it until the transaction ends."""
    held = JobTemplate.objects.select_for_update(no_key=True).filter(team=team, name=name).first()
    if held is not None:
        held.team = team
        return held
    inherited = line.templates_of(line.read(team), {name})
    if inherited:
        above = inherited[0].team.name
        raise TemplateNotFound(
            f"Template {name!r} is of team {above}, above {team.name}: change it there, or add one"
            f" of this name to team {team.name}, which its jobs get then."
        )
    raise TemplateNotFound(f"Team {team.name} has no template {name!r}.")


def check_may(principal: Principal, team: Team) -> None:
    """See that they may change templates of the team. Raises: RulesNotYours."""
    if not principal.may_in(Permission.SET_UP, team.pk):
        raise RulesNotYours(
            f"Leads and tokens of team {team.name} change its templates, and admins."
        )


def _told(template: JobTemplate) -> dict[str, Any]:
    """Return what the audit log tells: not its spec, which may be long."""
    return {
        "description": template.description,
        "fields": sorted(template.spec),
        "version": template.version,
    }
