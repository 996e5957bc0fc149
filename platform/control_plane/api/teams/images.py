"""Which images may a team's jobs run, and which rules say so? Only admins change the rules."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy import image_rules
from tenancy.access.permissions import Permission
from tenancy.access.principal import principal_of
from tenancy.audit import records
from tenancy.models import ImageRule, Team

from jobs.api.requests import body, query

_MOST: Final = 500


class TeamImagesSerializer(serializers.Serializer[Any]):
    runs_images = serializers.BooleanField(help_text="false: workers are mere processes.")
    platform_image = serializers.CharField(
        help_text="Always allowed; what jobs run by default. Empty where no images run."
    )
    patterns = serializers.ListField(
        child=serializers.CharField(), help_text="What rules allow; * is any characters."
    )


class ImageRuleSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(read_only=True)
    pattern = serializers.CharField(
        max_length=400, help_text="Such as registry.example.com/vision/*; answered in full."
    )
    team = serializers.CharField(
        source="team.name", allow_null=True, default=None, help_text="null: for everybody."
    )
    created_at = serializers.DateTimeField(read_only=True)


class ImageRuleQuery(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        required=False, default=0, min_value=0, max_value=2**63 - 1, help_text="A rule's id."
    )
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=_MOST)


class ImageRuleListSerializer(serializers.Serializer[Any]):
    items = ImageRuleSerializer(many=True)
    next_after = serializers.IntegerField(allow_null=True, help_text="null: the last page.")


class TeamImagesView(APIView):
    @extend_schema(
        operation_id="list_team_images",
        summary="Which images a team's jobs may run",
        responses=TeamImagesSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        team = principal_of(request).seen.get(name)
        if team is None:
            raise exceptions.NotFound
        platform_image = settings.CONCERTINA.worker_host.platform_image
        allowed = {
            "runs_images": platform_image is not None,
            "platform_image": platform_image or "",
            "patterns": image_rules.patterns_of(team),
        }
        return Response(TeamImagesSerializer(allowed).data)


class ImageRulesView(APIView):
    @extend_schema(
        operation_id="list_image_rules",
        summary="Rules that allow images, oldest first (admins)",
        parameters=[ImageRuleQuery],
        responses=ImageRuleListSerializer,
    )
    def get(self, request: Request) -> Response:
        _check_admin(request)
        parameters = query(request, ImageRuleQuery)
        rules = ImageRule.objects.filter(pk__gt=parameters["after"]).select_related("team")
        page = list(rules.order_by("pk")[: parameters["limit"] + 1])
        shown = page[: parameters["limit"]]
        following = shown[-1].pk if len(page) > len(shown) else None
        return Response(ImageRuleListSerializer({"items": shown, "next_after": following}).data)

    @extend_schema(
        operation_id="add_image_rule",
        summary="Allow images (admins)",
        request=ImageRuleSerializer,
        responses={201: ImageRuleSerializer},
    )
    def post(self, request: Request) -> Response:
        _check_admin(request)
        wanted = body(request, ImageRuleSerializer)
        rule = ImageRule(pattern=wanted["pattern"], team=_team(wanted["team"]["name"]))
        try:
            rule.full_clean()
        except ValidationError as error:
            raise exceptions.ValidationError(error.message_dict) from error
        rule.save()
        records.note_target(target=f"image-rules/{rule.pk}", team_id=rule.team_id)
        records.note_change(after={"pattern": rule.pattern, "team": wanted["team"]["name"]})
        return Response(ImageRuleSerializer(rule).data, status=status.HTTP_201_CREATED)


class ImageRuleView(APIView):
    @extend_schema(
        operation_id="delete_image_rule",
        summary="Allow images no longer (admins)",
        description="Running jobs go on; waiting ones that need the rule fail when they start.",
        responses={204: None},
    )
    def delete(self, request: Request, rule_id: int) -> Response:
        _check_admin(request)
        rule = ImageRule.objects.select_related("team").filter(pk=rule_id).first()
        if rule is None:
            raise exceptions.NotFound(f"There is no image rule {rule_id}.")
        records.note_target(team_id=rule.team_id)
        team = rule.team.name if rule.team else None
        records.note_change(before={"pattern": rule.pattern, "team": team})
        rule.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _check_admin(request: Request) -> None:
    if not principal_of(request).may_anywhere(Permission.ADMINISTER):
        raise exceptions.PermissionDenied("Only admins see and change the rules for images.")


def _team(name: str | None) -> Team | None:
    if name is None:
        return None
    team = Team.objects.filter(name=name).first()
    if team is None:
        raise exceptions.ValidationError({"team": f"There is no team {name!r}."})
    return team
