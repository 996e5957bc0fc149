"""Which data may jobs name, and whose jobs?"""

from __future__ import annotations

from django.db import models
from tenancy.models import slug_validator


class DataSource(models.Model):
    """Data that jobs are shown; what its place means is for its kind to say."""

    class Kind(models.TextChoices):
        FOLDER = "folder", "folder: one that the nodes see"
        OBJECT_STORE = "object_store", "object_store: a URL that the platform fetches from"
        OUTPUT = "output", "output: what a job wrote"
        UPLOAD = "upload", "upload: what a team has uploaded"

    name = models.CharField(max_length=40, unique=True, validators=[slug_validator])
    kind = models.CharField(max_length=12, choices=Kind)
    place = models.JSONField(help_text="Where it lies, in the words of its kind.")
    is_writable = models.BooleanField(default=False, help_text="True if jobs may write to it.")
    teams = models.ManyToManyField(
        "tenancy.Team", related_name="data_sources", help_text="Whose jobs may name it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.CharField(max_length=150)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return f"{self.name} ({self.kind})"
