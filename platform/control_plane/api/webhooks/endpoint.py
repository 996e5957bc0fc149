"""Who is told of events? Leads say so for their team, admins for all of the installation."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.models import Team
from webhooks import hooks
from webhooks.errors import NoMailHere
from webhooks.models import Webhook, WebhookDelivery, WebhookShape

from control_plane.api.webhooks.documents import (
    DeliveryListSerializer,
    DeliveryQuery,
    DeliverySerializer,
    MadeWebhookSerializer,
    WebhookBody,
    WebhookChangeBody,
    WebhookListSerializer,
    WebhookQuery,
    WebhookSerializer,
)
from control_plane.web.body_parsers import BoundedJsonParser
from jobs.api.requests import body, query

MOST_LISTED: Final = 500
_UNREADABLE: Final = {"Cache-Control": "no-store"}  # by nobody else, and never again


class WebhooksView(APIView):
    parser_classes = (BoundedJsonParser,)  # whose errors show nothing of the body

    @extend_schema(
        operation_id="list_webhooks",
        summary="The webhooks that the caller may change, without their addresses and keys",
        description=f"At most {MOST_LISTED}; a team has at most {hooks.MOST_OF_TEAM}.",
        parameters=[WebhookQuery],
        responses=WebhookListSerializer,
    )
    def get(self, request: Request) -> Response:
        found = _changeable(principal_of(request)).select_related("team")
        if team := query(request, WebhookQuery)["team"]:
            found = found.filter(team__name=team)
        items = found.order_by("team__name", "name")[:MOST_LISTED]
        return Response(WebhookListSerializer({"items": items}).data)

    @extend_schema(
        operation_id="add_webhook",
        summary="Tell an address of what happens from now on (leads; admins for all teams)",
        description="The answer has the key with which messages are signed, this once. A team has"
        f" at most {hooks.MOST_OF_TEAM}, the installation {hooks.MOST_OF_INSTALLATION}.",
        request=WebhookBody,
        responses={201: MadeWebhookSerializer},
    )
    def post(self, request: Request) -> Response:
        principal, wanted = principal_of(request), body(request, WebhookBody)
        if wanted["shape"] == WebhookShape.MAIL and settings.CONCERTINA.mail is None:
            raise NoMailHere
        webhook, key = hooks.add(
            team=_team(principal, wanted["team"]),
            name=wanted["name"],
            url=wanted["url"],
            shape=wanted["shape"],
            kinds=wanted.get("kinds", ()),
            states=wanted.get("states", ()),
            is_on_request=wanted.get("is_on_request", False),
            by=principal.name,
        )
        if not wanted.get("is_enabled", True):
            hooks.change(webhook, {"is_enabled": False}, by=principal.name)
        answer = {**WebhookSerializer(webhook).data, "key": key}
        return Response(answer, status=status.HTTP_201_CREATED, headers=_UNREADABLE)


class WebhookView(APIView):
    @extend_schema(
        operation_id="change_webhook",
        summary="Change of what a webhook is told, or switch it off and on (leads, admins)",
        description="Another address needs another webhook, with a key of its own.",
        request=WebhookChangeBody,
        responses=WebhookSerializer,
    )
    def patch(self, request: Request, webhook: int) -> Response:
        principal = principal_of(request)
        found, changes = _webhook(principal, webhook), body(request, WebhookChangeBody)
        if changes:
            hooks.change(found, changes, by=principal.name)
        return Response(WebhookSerializer(found).data)

    @extend_schema(
        operation_id="delete_webhook",
        summary="Delete a webhook, and forget what it was sent (leads, admins)",
        responses={204: None},
    )
    def delete(self, request: Request, webhook: int) -> Response:
        principal = principal_of(request)
        hooks.remove(_webhook(principal, webhook), by=principal.name)
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookTestView(APIView):
    @extend_schema(
        operation_id="test_webhook",
        summary="Send a message to a webhook to see whether it comes through (leads, admins)",
        description="It is sent within seconds; look among the deliveries how that went.",
        request=None,
        responses={202: DeliverySerializer},
    )
    def post(self, request: Request, webhook: int) -> Response:
        found = _webhook(principal_of(request), webhook)
        url = settings.CONCERTINA.service_url
        made = hooks.send_test(found, timezone.now(), service_url=url)
        return Response(DeliverySerializer(made).data, status=status.HTTP_202_ACCEPTED)


class DeliveriesView(APIView):
    @extend_schema(
        operation_id="list_webhook_deliveries",
        summary="What a webhook was sent, and how it went, the newest first (leads, admins)",
        parameters=[DeliveryQuery],
        responses=DeliveryListSerializer,
    )
    def get(self, request: Request, webhook: int) -> Response:
        found = _webhook(principal_of(request), webhook)
        parameters = query(request, DeliveryQuery)
        rows = WebhookDelivery.objects.filter(webhook=found).defer("body")
        if state := parameters.get("state"):
            rows = rows.filter(state=state)
        if before := parameters.get("before"):
            rows = rows.filter(_before(found, before))
        limit = parameters["limit"]
        items = [*rows.order_by("-created_at", "-id")[: limit + 1]]
        answer = {"items": items[:limit], "has_more": len(items) > limit}
        return Response(DeliveryListSerializer(answer).data)


class ReplayView(APIView):
    @extend_schema(
        operation_id="replay_webhook_delivery",
        summary="Send something again that was delivered, or is dead (leads, admins)",
        description="With the same id, so whoever has it already can tell. One that waits is left"
        " as it is.",
        request=None,
        responses={202: DeliverySerializer},
    )
    def post(self, request: Request, webhook: int, delivery: UUID) -> Response:
        found = _webhook(principal_of(request), webhook)
        again = hooks.replay(found, delivery, timezone.now())
        if again is None:
            raise exceptions.NotFound(f"Webhook {found.name} has no delivery {delivery}.")
        return Response(DeliverySerializer(again).data, status=status.HTTP_202_ACCEPTED)


def _before(webhook: Webhook, delivery: UUID) -> Q:
    row = WebhookDelivery.objects.filter(webhook=webhook, pk=delivery).only("created_at").first()
    if row is None:
        problem = "is no delivery of this webhook, or is forgotten. Begin without it."
        raise exceptions.ValidationError({"before": [problem]})
    return Q(created_at__lt=row.created_at) | Q(created_at=row.created_at, pk__lt=row.pk)


def _changeable(principal: Principal) -> QuerySet[Webhook]:
    """Return the webhooks that the caller may change: of the installation only as an admin."""
    if principal.is_admin:
        return Webhook.objects.all()
    teams = principal.teams_where(Permission.MANAGE_WEBHOOKS).values()
    return Webhook.objects.filter(team__in=[team.pk for team in teams])


def _webhook(principal: Principal, number: int) -> Webhook:
    """Return one that the caller may change; a foreign one is not there."""
    found: Any = Webhook.objects.select_related("team").filter(pk=number).first()
    if found is None or not (principal.is_admin or found.team_id in principal.seen_ids):
        raise exceptions.NotFound
    if not principal.is_admin:
        _check(principal, found.team.name)
    webhook: Webhook = found
    return webhook


def _team(principal: Principal, name: str | None) -> Team | None:
    """Return the team whose jobs are to be told of; None: all, for an admin."""
    if name is None:
        if not principal.is_admin:
            raise exceptions.PermissionDenied(
                "Only admins add webhooks for all teams. Name your `team`."
            )
        return None
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound(f"There is no team {name!r}.")
    _check(principal, name)
    return team


def _check(principal: Principal, team: str) -> None:
    if not principal.may(Permission.MANAGE_WEBHOOKS, team):
        raise exceptions.PermissionDenied(
            f"Only leads of team {team}, or of one above it, and admins see and change its"
            " webhooks."
        )
