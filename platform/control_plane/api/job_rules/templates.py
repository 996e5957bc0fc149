"""The endpoints of a team's templates of job specs."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of

from control_plane.api.job_rules import versions
from control_plane.api.job_rules.documents import (
    TemplateBody,
    TemplateChangeBody,
    TemplateListSerializer,
    TemplateSerializer,
)
from control_plane.api.job_rules.rules import team_of
from jobs.api.requests import body
from jobs.commands.rules import templates
from jobs.models import JobTemplate

_TYPES: Final = ("application/json", "application/yaml")


class TemplatesView(APIView):
    @extend_schema(
        operation_id="list_templates",
        summary="The templates that jobs of a team may name",
        description="By name: those of the team, and those of teams above it of which it has none"
        f" of that name. A team has at most {templates.MOST_OF_TEAM}.",
        responses=TemplateListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team = team_of(principal, name)
        items = [_shown(principal, one) for one in templates.all_of(team)]
        answer = {"may_add": principal.may_in(Permission.SET_UP, team.pk), "items": items}
        return Response(TemplateListSerializer(answer).data)

    @extend_schema(
        operation_id="add_template",
        summary="Add a part of a job spec that jobs may name (leads, team tokens, admins)",
        description="A job that says `template: NAME` gets it where its own spec says nothing.",
        request=dict.fromkeys(_TYPES, TemplateBody),
        responses={201: TemplateSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team = team_of(principal, name)
        templates.check_may(principal, team)
        made = templates.add(principal, team, **body(request, TemplateBody))
        return _answer(principal, made, code=status.HTTP_201_CREATED)


class TemplateView(APIView):
    @extend_schema(
        operation_id="get_template",
        summary="Read the template that jobs of a team get by a name",
        responses=TemplateSerializer,
    )
    def get(self, request: Request, name: str, template: str) -> Response:
        principal = principal_of(request)
        return _answer(principal, templates.find(team_of(principal, name), template))

    @extend_schema(
        operation_id="change_template",
        summary="Change a template (leads, team tokens, admins)",
        description="What is left out stays. Jobs that began with it stay as they are. `If-Match`"
        " is the `version` that was read.",
        parameters=[versions.NUMBERED],
        request=dict.fromkeys(_TYPES, TemplateChangeBody),
        responses=TemplateSerializer,
    )
    def patch(self, request: Request, name: str, template: str) -> Response:
        principal = principal_of(request)
        team = team_of(principal, name)
        templates.check_may(principal, team)
        changes = body(request, TemplateChangeBody)
        version = versions.number_of(request)
        changed = templates.change(principal, team, template, changes, version=version)
        return _answer(principal, changed)

    @extend_schema(
        operation_id="delete_template",
        summary="Delete a template (leads, team tokens, admins)",
        description="Jobs that began with it stay as they are; a schedule whose spec names it is"
        " refused at its next time.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, template: str) -> Response:
        principal = principal_of(request)
        templates.remove(principal, team_of(principal, name), template)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _shown(principal: Principal, template: JobTemplate) -> JobTemplate:
    told: Any = template
    told.may_change = templates.may_change(principal, template)
    return template


def _answer(
    principal: Principal, template: JobTemplate, code: int = status.HTTP_200_OK
) -> Response:
    return Response(TemplateSerializer(_shown(principal, template)).data, status=code)
