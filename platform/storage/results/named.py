"""Which models has a team? Checkpoints under a name, version by version, with words for some.

A version is written as `digits@3`, or by a word for it as `digits@production`; `digits` alone and
`digits@latest` are the newest. Whoever deletes a version, or starts from it, locks its row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.db.models import Prefetch, QuerySet, Sum
from tenancy.audit import records
from tenancy.models import Team, slug_validator

from storage.errors import ModelInUse, ModelInvalid, ModelUnknown, TooManyModels
from storage.models import HeldCheckpoint, ModelAlias, ModelVersion, NamedModel
from storage.results import held
from storage.results.checkpoints import WholeCheckpoint

MOST_MODELS: Final = 100  # of a team; guessed, as all that follow: one page shows them all
MOST_VERSIONS: Final = 500  # of all models of a team
MOST_WORDS: Final = 20  # of a model
LONGEST_NOTE: Final = 500  # characters
NEWEST: Final = "latest"
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_NAMED: Final = 5  # of those that use a version

Users = Callable[[], Mapping[int, Sequence[str]]]
"""Says which jobs need which versions of a model, by number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOrigin:
    """What stays known of the job that a version is of."""

    job_id: str
    job_name: str
    code: str
    sources: Sequence[Mapping[str, str]]
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRequest:
    """What somebody says who makes a version."""

    by: str
    word: str = ""  # for it from now on; empty: none
    note: str = ""


@transaction.atomic
def add(
    team: Team,
    name: str,
    checkpoint: WholeCheckpoint,
    origin: ModelOrigin,
    said: VersionRequest,
    *,
    most_bytes: int,
) -> ModelVersion:
    """Make a checkpoint the next version of a model; the control loop holds it within seconds.

    Raises:
        ModelInvalid: the name, or the word for it, is none.
        TooManyModels: the team has as many, or keeps as much, as it may.
        WeightsUnknown: an earlier release wrote the checkpoint.
    """
    _check_name("model's name", name)
    about, names = checkpoint.about, held.names_of(checkpoint, with_state=True)
    assert about is not None  # noqa: S101 - or it had no names
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)  # one at a time
    _check_room(team, name, checkpoint.bytes, most_bytes)
    model, _ = NamedModel.objects.get_or_create(
        team=team, name=name, defaults={"created_by": said.by}
    )
    model.newest += 1
    model.save(update_fields=["newest"])
    row = HeldCheckpoint.objects.create(
        source_job=origin.job_id, step=checkpoint.step, names=names, digest=about.weights_digest
    )
    version = ModelVersion.objects.create(
        model=model,
        number=model.newest,
        held=row,
        job_id=origin.job_id,
        job_name=origin.job_name,
        epoch=about.epoch,
        bytes=checkpoint.bytes,
        weights_bytes=about.weights_bytes,
        metrics={one.name: one.value for one in about.values if one.step == about.step},
        code=origin.code,
        sources=list(origin.sources),
        spec=dict(origin.spec),
        note=said.note,
        created_by=said.by,
    )
    if said.word:
        _point(version, said.word)
    told = {"version": version.number, "job": origin.job_id, "step": checkpoint.step}
    records.note_change(after={**told, "alias": said.word})
    return version


def of_team(team: Team) -> QuerySet[NamedModel]:
    """Return its models by name, each with its versions, newest first, without their specs."""
    versions = ModelVersion.objects.defer("spec").select_related("held")
    return NamedModel.objects.filter(team=team).prefetch_related(
        Prefetch("versions", versions.prefetch_related("aliases"))
    )


def find(team: Team, name: str, version: str = NEWEST) -> ModelVersion:
    """Find a version by its number, by a word for it, or as `latest`.

    Raises:
        ModelUnknown: the team has none such.
    """
    found = _matching(team, name, version).select_related("model", "held").first()
    if found is None:
        raise ModelUnknown(f"Team {team.name} has no model {name}@{version}.")
    return found


def point(team: Team, name: str, version: str, word: str) -> ModelVersion:
    """Let a word mean a version of the model, whatever it meant before.

    Raises:
        ModelUnknown: there is no such version.
        ModelInvalid: it is no word.
        TooManyModels: the model has as many words as it may.
    """
    with transaction.atomic():
        locked = _matching(team, name, version).select_for_update(no_key=True, of=("self",))
        if (found := locked.select_related("model").first()) is None:
            raise ModelUnknown(f"Team {team.name} has no model {name}@{version}.")
        former = _point(found, word)
        before = None if former is None else {"version": former}
        records.note_change(before=before, after={"version": found.number})
    return find(team, name, str(found.number))


def forget_word(team: Team, name: str, word: str) -> None:
    """Raises: ModelUnknown."""
    words = ModelAlias.objects.select_related("version")
    found = words.filter(model__team=team, model__name=name, word=word).first()
    if found is None:
        raise ModelUnknown(f"No version of {name} is {word}.")
    records.note_change(before={"version": found.version.number})
    found.delete()


@transaction.atomic
def delete(team: Team, name: str, version: str | None, users: Users) -> None:
    """Delete a version, or for None the model with all of them; the control loop frees their room.

    Raises:
        ModelUnknown: there is none.
        ModelInUse: live jobs start from it, or there is a word for it.
    """
    model = NamedModel.objects.select_for_update().filter(team=team, name=name).first()
    if model is None:
        raise ModelUnknown(f"Team {team.name} has no model {name}.")
    if version is None:
        versions = list(model.versions.select_for_update())
        _check_unused(versions, users())
        records.note_change(before={"versions": [one.number for one in versions]})
        model.delete()
        return
    found = _matching(team, name, version).select_for_update(of=("self",)).first()
    if found is None:
        raise ModelUnknown(f"Team {team.name} has no model {name}@{version}.")
    _check_unused([found], users())
    records.note_change(before={"version": found.number, "job": found.job_id})
    found.delete()


def _matching(team: Team, name: str, version: str) -> QuerySet[ModelVersion]:
    """Return it first, if there is any."""
    versions = ModelVersion.objects.filter(model__team=team, model__name=name)
    if version == NEWEST:
        return versions.order_by("-number")
    if _NUMBER.fullmatch(version):
        return versions.filter(number=int(version))
    return versions.filter(aliases__word=version)


def _point(version: ModelVersion, word: str) -> int | None:
    """Return which version it was before; None: none."""
    _check_name("word", word)
    if word == NEWEST:
        raise ModelInvalid(f"{NEWEST} is always the newest version. Use another word.")
    others = version.model.aliases.exclude(word=word)
    if others.count() >= MOST_WORDS:
        raise TooManyModels(f"A model may have {MOST_WORDS} words for versions. Take one away.")
    words = ModelAlias.objects.select_for_update(of=("self",)).select_related("version")
    alias = words.filter(model=version.model, word=word).first()
    if alias is None:
        ModelAlias.objects.create(model=version.model, word=word, version=version)
        return None
    former, alias.version = alias.version.number, version
    alias.save(update_fields=["version"])
    return former


def _check_unused(versions: Sequence[ModelVersion], users: Mapping[int, Sequence[str]]) -> None:
    words = ModelAlias.objects.filter(version__in=versions).select_related("version")
    if meant := [f"{one.word} (@{one.version.number})" for one in words[:_NAMED]]:
        raise ModelInUse(
            f"It is {', '.join(meant)}. Let another version be that first, or take the word away."
        )
    jobs = [user for one in versions for user in users.get(one.number, ())]
    if jobs:
        more = f" and {len(jobs) - _NAMED} more" if len(jobs) > _NAMED else ""
        raise ModelInUse(
            f"Live jobs start from it: {', '.join(jobs[:_NAMED])}{more}. Wait until they have"
            " ended, or cancel them."
        )


def _check_room(team: Team, name: str, more: int, most_bytes: int) -> None:
    others = NamedModel.objects.filter(team=team).exclude(name=name)
    if others.count() >= MOST_MODELS:
        raise TooManyModels(f"Team {team.name} has {MOST_MODELS} models. Delete one first.")
    versions = ModelVersion.objects.filter(model__team=team)
    if versions.count() >= MOST_VERSIONS:
        raise TooManyModels(
            f"Team {team.name} has {MOST_VERSIONS} versions of models. Delete some first."
        )
    kept = versions.aggregate(sum=Sum("bytes"))["sum"] or 0
    if kept + more > most_bytes:
        raise TooManyModels(
            f"Team {team.name} keeps {_gib(kept)} GiB of models, and may keep {_gib(most_bytes)}"
            f" GiB; this one has {_gib(more)}. Delete versions that nobody needs."
        )


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f}"


def _check_name(what: str, name: str) -> None:
    if not re.fullmatch(slug_validator.regex, name):
        raise ModelInvalid(f"{name[:80]!r} is no {what}. {slug_validator.message}")
