"""GET /teams/{name}/models: checkpoints that somebody gave a name, with where they came from.

A version is named by its number, by a word for it, or as `latest`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.errors import ModelInvalid, ModelLost, ModelNotStored
from storage.models import HeldCheckpoint, ModelVersion, NamedModel
from storage.results import held, named, opening
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.models import Team

from control_plane.api.results import downloads
from control_plane.api.results.ranges import RANGES
from jobs.admission import start_sources
from jobs.api.requests import body
from jobs.changes.demand_signal import announce_demand
from jobs.models import Job

_STATES: Final = {
    HeldCheckpoint.State.WANTED: "storing",
    HeldCheckpoint.State.HELD: "stored",
    HeldCheckpoint.State.LOST: "lost",
}


class ModelVersionBody(serializers.Serializer[Any]):
    """Which checkpoint becomes the version."""

    job = serializers.CharField(max_length=160, help_text="Id or name of a job of the team.")
    step = serializers.RegexField(
        r"^([0-9]{1,18}|latest|best)$",
        default="latest",
        help_text="Of its checkpoint, or latest, or best.",
        error_messages={"invalid": "Use a step, latest or best."},
    )
    alias = serializers.CharField(
        max_length=40, default="", allow_blank=True, help_text="A word for it from now on."
    )
    note = serializers.CharField(
        max_length=named.LONGEST_NOTE, default="", allow_blank=True, help_text="For people."
    )


class ModelAliasBody(serializers.Serializer[Any]):
    version = serializers.RegexField(
        r"^[a-z0-9-]{1,40}$",
        help_text="A number, another word, or latest.",
        error_messages={"invalid": "Use a number, another word, or latest."},
    )


class ModelVersionSerializer(serializers.Serializer[Any]):
    """A version, and from which checkpoint it is."""

    model = serializers.CharField()
    version = serializers.IntegerField()
    aliases = serializers.ListField(child=serializers.CharField())
    state = serializers.ChoiceField(
        choices=[*_STATES.values()],
        help_text="`storing` for a few seconds; `lost` if the checkpoint was removed before that.",
    )
    job_id = serializers.CharField(help_text="Which wrote it; it may be gone.")
    has_job = serializers.BooleanField(help_text="False: that job was deleted.")
    job_name = serializers.CharField()
    step = serializers.IntegerField()
    epoch = serializers.FloatField()
    metrics = serializers.DictField(
        child=serializers.FloatField(), help_text="What was logged right after its step."
    )
    bytes = serializers.IntegerField(help_text="Of its weights, and of the rest of its training.")
    weights_bytes = serializers.IntegerField()
    digest = serializers.CharField(help_text="SHA-256 of its weights, in hexadecimal.")
    note = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()


class ModelDataSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    path = serializers.CharField(allow_blank=True)
    version = serializers.CharField(
        allow_blank=True, help_text="Empty: it was no copy, but the source itself."
    )


class ModelVersionDetailSerializer(ModelVersionSerializer):
    """A version, and all that is known of how it came to be."""

    code = serializers.CharField(
        allow_blank=True, help_text="Digest of its job's code; empty: it had none."
    )
    sources = ModelDataSerializer(many=True, help_text="Of data that its job used.")
    spec = serializers.DictField(
        child=serializers.JSONField(), help_text="Of its job, with every default filled in."
    )


class ModelSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    versions = ModelVersionSerializer(many=True, help_text="Newest first.")


class ModelListSerializer(serializers.Serializer[Any]):
    items = ModelSerializer(many=True)


class ModelsView(APIView):
    @extend_schema(
        operation_id="list_models",
        summary="The models of a team, each with its versions",
        description=f"By name. At most {named.MOST_MODELS} models, with {named.MOST_VERSIONS}"
        " versions in all.",
        responses=ModelListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        models = list(named.of_team(_team(principal_of(request), name)))
        jobs = _jobs_of(version for model in models for version in model.versions.all())
        items = [_model(one, jobs) for one in models]
        return Response(ModelListSerializer({"items": items}).data)


class ModelView(APIView):
    @extend_schema(
        operation_id="delete_model",
        summary="Delete a model with all of its versions",
        description="Not while there are words for versions, or live jobs start from one.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, model: str) -> Response:
        return _delete(_team_to_change(principal_of(request), name), model, None)


class ModelVersionsView(APIView):
    @extend_schema(
        operation_id="add_model_version",
        summary="Make a checkpoint the next version of a model",
        description="Of a new model, if there is none of this name. It stays when its job is"
        " deleted.",
        request=ModelVersionBody,
        responses={201: ModelVersionDetailSerializer},
    )
    def post(self, request: Request, name: str, model: str) -> Response:
        principal = principal_of(request)
        team, wanted = _team_to_change(principal, name), body(request, ModelVersionBody)
        job = start_sources.job_of(team, wanted["job"])
        if job is None:
            raise ModelInvalid(f"Team {name} has no job {wanted['job']!r}. Name one by id or name.")
        made = named.add(
            team,
            model,
            start_sources.checkpoint_of(job, wanted["step"]),
            start_sources.origin_of(job),
            named.VersionRequest(by=principal.name, word=wanted["alias"], note=wanted["note"]),
            most_bytes=settings.CONCERTINA.team_model_bytes,
        )
        announce_demand()
        found = named.find(team, model, str(made.number))
        return Response(_detail(found), status=status.HTTP_201_CREATED)


class ModelVersionView(APIView):
    @extend_schema(
        operation_id="get_model_version",
        summary="One version of a model, and how it came to be",
        responses=ModelVersionDetailSerializer,
    )
    def get(self, request: Request, name: str, model: str, version: str) -> Response:
        return Response(_detail(named.find(_team(principal_of(request), name), model, version)))

    @extend_schema(
        operation_id="delete_model_version",
        summary="Delete a version of a model",
        description="Not while there is a word for it, or live jobs start from it.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, model: str, version: str) -> Response:
        return _delete(_team_to_change(principal_of(request), name), model, version)


class ModelWeightsView(APIView):
    @extend_schema(
        operation_id="get_model_weights",
        summary="The weights of a version of a model, as safetensors",
        parameters=RANGES,
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            (206, "application/octet-stream"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, name: str, model: str, version: str) -> HttpResponseBase:
        team = _team(principal_of(request), name)
        found = named.find(team, model, version)
        if found.held.state == HeldCheckpoint.State.LOST:
            raise ModelLost
        if found.held.state == HeldCheckpoint.State.WANTED:
            raise ModelNotStored
        folder = held.HeldFolder(state_dir=settings.CONCERTINA.state_dir, number=found.held_id)
        file = opening.file(folder, held.WEIGHTS)
        title = f"{model}-{found.number}.safetensors"
        return downloads.of_file(request, team.pk, file, title)


class ModelAliasView(APIView):
    @extend_schema(
        operation_id="set_model_alias",
        summary="Let a word mean a version of a model",
        description="Whatever it meant before.",
        request=ModelAliasBody,
        responses=ModelVersionSerializer,
    )
    def put(self, request: Request, name: str, model: str, alias: str) -> Response:
        wanted = body(request, ModelAliasBody)["version"]
        found = named.point(_team_to_change(principal_of(request), name), model, wanted, alias)
        jobs = _jobs_of([found])
        return Response(ModelVersionSerializer(_version(found, model, jobs)).data)

    @extend_schema(
        operation_id="delete_model_alias",
        summary="Let a word mean no version of a model any more",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, model: str, alias: str) -> Response:
        named.forget_word(_team_to_change(principal_of(request), name), model, alias)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _team(principal: Principal, name: str) -> Team:
    """Return the caller's team; any other looks as if it did not exist."""
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    return team


def _team_to_change(principal: Principal, name: str) -> Team:
    team = _team(principal, name)
    if not principal.may(Permission.NAME_MODELS, name):
        raise exceptions.PermissionDenied(f"You see the models of team {name}, and no more.")
    return team


def _delete(team: Team, model: str, version: str | None) -> Response:
    named.delete(team, model, version, lambda: start_sources.live_users(team, model))
    announce_demand()
    return Response(status=status.HTTP_204_NO_CONTENT)


def _jobs_of(versions: Iterable[ModelVersion]) -> Collection[str]:
    """Return the jobs that wrote them, those that are there."""
    jobs = {version.job_id for version in versions}
    return frozenset(Job.objects.filter(pk__in=jobs).values_list("pk", flat=True))


def _model(found: NamedModel, jobs: Collection[str]) -> dict[str, Any]:
    return {
        "name": found.name,
        "created_by": found.created_by,
        "created_at": found.created_at,
        "versions": [_version(one, found.name, jobs) for one in found.versions.all()],
    }


def _version(found: ModelVersion, model: str, jobs: Collection[str]) -> dict[str, Any]:
    kept = found.held
    return {
        "model": model,
        "version": found.number,
        "aliases": [one.word for one in found.aliases.all()],
        "state": _STATES[HeldCheckpoint.State(kept.state)],
        "job_id": found.job_id,
        "has_job": found.job_id in jobs,
        "job_name": found.job_name,
        "step": kept.step,
        "epoch": found.epoch,
        "metrics": found.metrics,
        "bytes": found.bytes,
        "weights_bytes": found.weights_bytes,
        "digest": kept.digest,
        "note": found.note,
        "created_by": found.created_by,
        "created_at": found.created_at,
    }


def _detail(found: ModelVersion) -> dict[str, Any]:
    more = {"code": found.code, "sources": found.sources, "spec": found.spec}
    version = _version(found, found.model.name, _jobs_of([found]))
    return ModelVersionDetailSerializer({**version, **more}).data
