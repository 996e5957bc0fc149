"""Which images are fetched before any job names them, and how does an admin ask for more?

Only admins see them: an image may belong to one team.
"""

from __future__ import annotations

from typing import Any

from cluster.models import Pool, PrefetchedImage
from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import principal_of
from tenancy.audit import records

from jobs.api import json_types


class ImageOnNodeSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    note = serializers.CharField(help_text="Why it is not there yet; empty: it is.")


class PrefetchedImageSerializer(serializers.ModelSerializer[PrefetchedImage]):
    pool = serializers.SlugRelatedField(slug_field="name", queryset=Pool.objects.all())
    nodes = serializers.SerializerMethodField(help_text="What the control loop heard last.")

    class Meta:
        model = PrefetchedImage
        fields = ("id", "pool", "image", "nodes")
        validators = ()  # the model's own say it better

    @extend_schema_field(ImageOnNodeSerializer(many=True))
    def get_nodes(self, row: PrefetchedImage) -> Any:
        nodes = [{"node": node, "note": note} for node, note in sorted(row.notes.items())]
        return ImageOnNodeSerializer(nodes, many=True).data


class PrefetchedImageListSerializer(serializers.Serializer[Any]):
    items = PrefetchedImageSerializer(many=True)


class PrefetchedImagesView(APIView):
    @extend_schema(
        operation_id="list_prefetched_images",
        summary="Images that are fetched before any job names them, by pool (admins)",
        responses=PrefetchedImageListSerializer,
    )
    def get(self, request: Request) -> Response:
        _admins_only(request)
        found = PrefetchedImage.objects.select_related("pool")
        return Response(PrefetchedImageListSerializer({"items": found}).data)

    @extend_schema(
        operation_id="add_prefetched_image",
        summary="Have an image fetched to each node of a pool (admins)",
        request=PrefetchedImageSerializer,
        responses={201: PrefetchedImageSerializer},
    )
    def post(self, request: Request) -> Response:
        _admins_only(request)
        wanted = PrefetchedImageSerializer(data=request.data)
        json_types.check(wanted)
        wanted.is_valid(raise_exception=True)
        made = _saved(PrefetchedImage(**wanted.validated_data))
        records.note_target(target=f"prefetched-images/{made.pk}")
        records.note_change(after={"pool": made.pool.name, "image": made.image})
        return Response(PrefetchedImageSerializer(made).data, status=201)


class PrefetchedImageView(APIView):
    @extend_schema(
        operation_id="get_prefetched_image",
        summary="An image that is fetched to each node of a pool (admins)",
        responses=PrefetchedImageSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        _admins_only(request)
        return Response(PrefetchedImageSerializer(_find(number)).data)

    @extend_schema(
        operation_id="remove_prefetched_image",
        summary="Fetch it no longer; nodes keep what they have (admins)",
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, number: int) -> Response:
        _admins_only(request)
        found = _find(number)
        records.note_change(before={"pool": found.pool.name, "image": found.image})
        found.delete()
        return Response(status=204)


def _admins_only(request: Request) -> None:
    if not principal_of(request).may_anywhere(Permission.ADMINISTER):
        raise exceptions.PermissionDenied("Only admins see and change which images are fetched.")


def _find(number: int) -> PrefetchedImage:
    found = PrefetchedImage.objects.select_related("pool").filter(pk=number).first()
    if found is None:
        raise exceptions.NotFound(f"There is no prefetched image {number}.")
    return found


def _saved(row: PrefetchedImage) -> PrefetchedImage:
    try:
        row.full_clean()
    except ValidationError as error:
        raise exceptions.ValidationError(error.message_dict) from error
    row.save()
    return row
