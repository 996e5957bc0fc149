"""Who is invited into a team? Its leads say so, and pass on a link, or have it sent by mail."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any, Final

from django.conf import settings
from django.core.validators import EmailValidator
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy import sign_in
from tenancy.access import invitations
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.buckets import TokenBucket
from tenancy.models import Invitation, Membership, Team
from webhooks.mail_server import MailServer

from control_plane.web.body_parsers import BoundedJsonParser
from jobs.api.requests import body

PAGE: Final = "/invitation"
_MAIL_SECONDS: Final = 5.0  # for each step of a conversation with the mail server
_WHOLE_MAIL_SECONDS: Final = 10.0
_MAILS: Final = (30, 30 / 3600)  # of a team at once, and a second
_ONE_ADDRESS: Final = "Use one address like ada@example.com."
_log: Final = logging.getLogger(__name__)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """An invitation, without its key."""

    team = serializers.CharField(source="team.name")
    invited_by = serializers.CharField(source="invited_by.username")
    accepted_by = serializers.CharField(
        source="accepted_by.username", allow_null=True, default=None
    )

    class Meta:
        model = Invitation
        fields: tuple[str, ...] = (
            *("id", "team", "role", "mail", "prefix", "invited_by", "invited_at", "expires_at"),
            *("revoked_at", "accepted_at", "accepted_by"),
        )


class MadeInvitationSerializer(InvitationSerializer):
    link = serializers.CharField(help_text="For whom it is; shown this once.")
    is_mailed = serializers.BooleanField(help_text="The mail server has taken the mail.")
    mail_problem = serializers.CharField(help_text="Why not, if it was to be sent; else empty.")

    class Meta(InvitationSerializer.Meta):
        fields = (*InvitationSerializer.Meta.fields, "link", "is_mailed", "mail_problem")


class InvitationListSerializer(serializers.Serializer[Any]):
    sends_mail = serializers.BooleanField(help_text="False: links are passed on by people.")
    items = InvitationSerializer(many=True)


class InvitationBody(serializers.Serializer[Any]):
    role = serializers.ChoiceField(
        choices=Membership.Role.choices,
        error_messages={"invalid_choice": "Use viewer, member or lead."},
    )
    mail = serializers.RegexField(  # one address, in which nothing is quoted
        r"^[0-9A-Za-z!#$%&'*+/=?^_`{|}~.-]{1,64}@[0-9A-Za-z.-]{1,180}$",
        required=False,
        validators=[EmailValidator(message=_ONE_ADDRESS)],
        help_text="An address to which the link is sent, where this installation sends mail.",
        error_messages={"invalid": _ONE_ADDRESS},
    )


class InvitationsView(APIView):
    parser_classes = (BoundedJsonParser,)

    @extend_schema(
        operation_id="list_invitations",
        summary="Who is invited into a team (leads, admins)",
        description="Open ones first, then those that ended last.",
        responses=InvitationListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        _, team = _team_to_change(request, name)
        answer = {
            "sends_mail": settings.CONCERTINA.mail is not None,
            "items": invitations.of(team),
        }
        return Response(InvitationListSerializer(answer).data)

    @extend_schema(
        operation_id="invite_member",
        summary="Invite somebody into a team (leads, admins)",
        description="The link makes one person a member, once, within"
        f" {invitations.LASTS.days} days, as long as you may give the role. A team has at most"
        f" {invitations.MOST_OPEN} open ones.",
        request=InvitationBody,
        responses={201: MadeInvitationSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        principal, team = _team_to_change(request, name)
        wanted = body(request, InvitationBody)
        mail = wanted.get("mail", "")
        made, key = invitations.invite(principal, team, wanted["role"], mail=mail)
        link = f"{settings.CONCERTINA.service_url.rstrip('/')}{PAGE}#{key}"
        problem = _send(made, link) if mail else ""
        answer = {
            **InvitationSerializer(made).data,
            "link": link,
            "is_mailed": bool(mail) and not problem,
            "mail_problem": problem,
        }
        return Response(
            answer, status=status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"}
        )


class InvitationView(APIView):
    @extend_schema(
        operation_id="revoke_invitation",
        summary="Make an open invitation useless (leads, admins)",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, invitation: int) -> Response:
        principal, team = _team_to_change(request, name)
        invitations.revoke(principal, team, invitation)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _team_to_change(request: Request, name: str) -> tuple[Principal, Team]:
    """Return who asks and their team; any other looks as if it did not exist."""
    principal = principal_of(request)
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    if not principal.may(Permission.MANAGE_MEMBERS, name):
        raise exceptions.PermissionDenied(
            f"Only leads of team {name}, or of one above it, and admins invite people."
        )
    return principal, team


def _send(invitation: Invitation, link: str) -> str:
    """Have the link sent; return why it was not, for the lead, who has the link."""
    from aiosmtplib import SMTPException  # noqa: PLC0415 - few requests need it
    from webhooks.delivery.mail import hand_over  # noqa: PLC0415 - likewise

    server: MailServer | None = settings.CONCERTINA.mail
    if server is None:
        return "This installation sends no mail. Pass the link on yourself."
    capacity, per_second = _MAILS
    key = f"concertina:invitation-mail:{invitation.team_id}"
    bucket = TokenBucket(key=key, capacity=capacity, per_second=per_second)
    if not sign_in.buckets().take([bucket]).is_allowed:
        return "The team has sent many invitations lately. Pass the link on yourself."
    try:
        message = message_of(invitation, link, sender=server.sender)
        asyncio.run(
            asyncio.wait_for(hand_over(server, message, seconds=_MAIL_SECONDS), _WHOLE_MAIL_SECONDS)
        )
    except (SMTPException, OSError, TimeoutError, ValueError) as problem:
        extra = {"action": "invitations", "error": str(problem)[:300]}
        _log.warning("An invitation was not mailed.", extra=extra)
        return "The mail server did not take it. Pass the link on yourself."
    return ""


def message_of(invitation: Invitation, link: str, *, sender: str) -> EmailMessage:
    """Return the mail, with the link and what it is for."""
    team, by = invitation.team.name, invitation.invited_by.get_username()
    made = EmailMessage(policy=SMTP)
    made["From"], made["To"] = sender, invitation.mail
    made["Subject"] = f"{by} invites you to team {team}"
    made["Date"] = format_datetime(invitation.invited_at)
    made["Auto-Submitted"] = "auto-generated"
    until = invitation.expires_at - timedelta(microseconds=invitation.expires_at.microsecond)
    made.set_content(
        f"{by} invites you to team {team} on Concertina, as {invitation.role}.\n\n"
        f"{link}\n\n"
        f"The link works once, until {until:%Y-%m-%d %H:%M} UTC. Whoever has it can use it, so"
        " keep it to yourself. If you did not expect this, do nothing.\n"
    )
    return made
