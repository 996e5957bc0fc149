"""Which containers wait warm for jobs, and how does an admin have more of them, or fewer?

Only admins see them: an image may belong to one team, and a container may write anything.
"""

from __future__ import annotations

from typing import Any

from cluster.models import Pool, WarmPool
from cluster.warmth import warm_nodes
from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from jobs.api import json_types


class WarmNodeSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    warm = serializers.IntegerField(help_text="Containers that wait there now.")
    note = serializers.CharField(help_text="Why they are fewer than wanted; empty: they are not.")


class WarmPoolSerializer(serializers.ModelSerializer[WarmPool]):
    pool = serializers.SlugRelatedField(slug_field="name", queryset=Pool.objects.all())
    nodes = serializers.SerializerMethodField(help_text="What the control loop saw last.")

    class Meta:
        model = WarmPool
        fields = ("id", "pool", "image", "size", "nodes")
        validators = ()  # the model's own say it better

    @extend_schema_field(WarmNodeSerializer(many=True))
    def get_nodes(self, warm_pool: WarmPool) -> Any:
        return WarmNodeSerializer(warm_nodes(warm_pool), many=True).data


class WarmPoolListSerializer(serializers.Serializer[Any]):
    items = WarmPoolSerializer(many=True)


class WarmPoolsView(APIView):
    @extend_schema(
        operation_id="list_warm_pools",
        summary="Containers that wait warm for jobs, by pool and image (admins)",
        responses=WarmPoolListSerializer,
    )
    def get(self, request: Request) -> Response:
        _admins_only(request)
        found = WarmPool.objects.select_related("pool")
        return Response(WarmPoolListSerializer({"items": found}).data)

    @extend_schema(
        operation_id="add_warm_pool",
        summary="Have containers of an image wait warm on each node of a pool (admins)",
        request=WarmPoolSerializer,
        responses={201: WarmPoolSerializer},
    )
    def post(self, request: Request) -> Response:
        _admins_only(request)
        wanted = WarmPoolSerializer(data=request.data)
        json_types.check(wanted)
        wanted.is_valid(raise_exception=True)
        made = _saved(WarmPool(**wanted.validated_data))
        return Response(WarmPoolSerializer(made).data, status=201)


class WarmPoolView(APIView):
    @extend_schema(
        operation_id="get_warm_pool",
        summary="Containers of one image that wait warm in one pool (admins)",
        responses=WarmPoolSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        _admins_only(request)
        return Response(WarmPoolSerializer(_find(number)).data)

    @extend_schema(
        operation_id="change_warm_pool",
        summary="Have more of them wait, or fewer (admins)",
        request=WarmPoolSerializer,
        responses=WarmPoolSerializer,
    )
    def patch(self, request: Request, number: int) -> Response:
        """Fields that are not named stay."""
        _admins_only(request)
        warm_pool = _find(number)
        changes = WarmPoolSerializer(warm_pool, data=request.data, partial=True)
        json_types.check(changes)
        changes.is_valid(raise_exception=True)
        for field, value in changes.validated_data.items():
            setattr(warm_pool, field, value)
        return Response(WarmPoolSerializer(_saved(warm_pool)).data)

    @extend_schema(
        operation_id="remove_warm_pool",
        summary="Have none of them wait any longer (admins)",
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, number: int) -> Response:
        _admins_only(request)
        _find(number).delete()
        return Response(status=204)


def _admins_only(request: Request) -> None:
    if not principal_of(request).is_admin:
        raise exceptions.PermissionDenied("Only admins see and change what waits warm.")


def _find(number: int) -> WarmPool:
    found = WarmPool.objects.select_related("pool").filter(pk=number).first()
    if found is None:
        raise exceptions.NotFound(f"There is no warm pool {number}.")
    return found


def _saved(warm_pool: WarmPool) -> WarmPool:
    try:
        warm_pool.full_clean()
    except ValidationError as error:
        raise exceptions.ValidationError(error.message_dict) from error
    warm_pool.save()
    return warm_pool
