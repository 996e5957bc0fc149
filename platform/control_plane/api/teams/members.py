"""Who is in a team? Everybody of the team sees it; leads, and those of teams above, say it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access import members
from tenancy.access.members import MOST_MEMBERS
from tenancy.access.permissions import ROLES, TABLE, Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.models import Membership, Team

from jobs.api.requests import body

PERMISSIONS: Final = [(one.value, one.value) for one in Permission]


class MemberSerializer(serializers.Serializer[Any]):
    """A person with a role in a team."""

    name = serializers.CharField(help_text="Of their account.")
    role = serializers.ChoiceField(choices=Membership.Role.choices)
    team = serializers.CharField(
        help_text="In which they were entered: this one, or one above it, whose roles hold here."
    )
    is_active = serializers.BooleanField(help_text="False: they cannot log in now.")
    from_provider = serializers.BooleanField(
        help_text="True: a group of the identity provider gives it, and takes it."
    )


class RolePermissionSerializer(serializers.Serializer[Any]):
    """Something that people may do in a team by their role."""

    permission = serializers.ChoiceField(choices=PERMISSIONS)
    meaning = serializers.CharField(help_text="What it lets its holder do.")
    roles = serializers.ListField(
        child=serializers.ChoiceField(choices=Membership.Role.choices),
        help_text="Who has it; admins have all.",
    )


class MemberListSerializer(serializers.Serializer[Any]):
    may_change = serializers.BooleanField(help_text="True if the caller may change who is in it.")
    may = serializers.ListField(
        child=serializers.ChoiceField(choices=PERMISSIONS),
        help_text="What the caller may do in the team.",
    )
    permissions = RolePermissionSerializer(many=True, help_text="What each role may do.")
    items = MemberSerializer(many=True)


_BY_ROLE: Final = [
    {
        "permission": permission.value,
        "meaning": row.meaning,
        "roles": [role for role in ROLES if role in row.held_by],
    }
    for permission, row in TABLE.items()
    if not set(ROLES).isdisjoint(row.held_by)
]


class RoleBody(serializers.Serializer[Any]):
    role = serializers.ChoiceField(
        choices=Membership.Role.choices,
        error_messages={"invalid_choice": "Use viewer, member or lead."},
    )


class MemberBody(RoleBody):
    name = serializers.CharField(max_length=150, help_text="Of an account that is there.")


class MembersView(APIView):
    @extend_schema(
        operation_id="list_members",
        summary="Who has which role in a team",
        description=f"Those of the team itself first, at most {MOST_MEMBERS}, then those of teams"
        " above it, nearest first.",
        responses=MemberListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        items = members.members_of(_team(principal, name))
        may_change = principal.may(Permission.MANAGE_MEMBERS, name)
        answer = {
            "may_change": may_change,
            "may": [one.value for one in Permission if principal.may(one, name)],
            "permissions": _BY_ROLE,
            "items": [asdict(one) for one in items],
        }
        return Response(MemberListSerializer(answer).data)

    @extend_schema(
        operation_id="add_member",
        summary="Give somebody a role in a team (leads, admins)",
        request=MemberBody,
        responses={201: MemberSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team, wanted = _team_to_change(principal, name), body(request, MemberBody)
        made = members.add(principal, team, wanted["name"], wanted["role"])
        return Response(MemberSerializer(asdict(made)).data, status=status.HTTP_201_CREATED)


class MemberView(APIView):
    @extend_schema(
        operation_id="change_member",
        summary="Give somebody who is in a team another role (leads, admins)",
        description="The last lead of a team, of whom none is in a team above either, loses the"
        " role by an admin only.",
        request=RoleBody,
        responses=MemberSerializer,
    )
    def patch(self, request: Request, name: str, member: str) -> Response:
        principal = principal_of(request)
        team, role = _team_to_change(principal, name), body(request, RoleBody)["role"]
        return Response(
            MemberSerializer(asdict(members.change(principal, team, member, role))).data
        )

    @extend_schema(
        operation_id="remove_member",
        summary="Take somebody out of a team (leads, admins)",
        description="What they look at ends within seconds. Their jobs go on, and leads change"
        " them. The last lead is removed by an admin only.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, member: str) -> Response:
        principal = principal_of(request)
        members.remove(principal, _team_to_change(principal, name), member)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _team(principal: Principal, name: str) -> Team:
    """Return the caller's team; any other looks as if it did not exist."""
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    return team


def _team_to_change(principal: Principal, name: str) -> Team:
    team = _team(principal, name)
    if not principal.may(Permission.MANAGE_MEMBERS, name):
        raise exceptions.PermissionDenied(
            f"Only leads of team {name}, or of one above it, and admins change who is in it."
        )
    return team
