"""Which models does a team keep, and where did each version of one come from?"""

from __future__ import annotations

from django.db import models
from tenancy.models import slug_validator


class NamedModel(models.Model):
    """A name under which a team keeps checkpoints, one version after the other."""

    team = models.ForeignKey("tenancy.Team", on_delete=models.CASCADE, related_name="models")
    name = models.CharField(max_length=40, validators=[slug_validator])
    newest = models.PositiveIntegerField(
        default=0, help_text="The number that was given last: none is given twice."
    )
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=("team", "name"), name="models_are_unique_per_team"),
        )

    def __str__(self) -> str:
        return f"{self.team_id}/{self.name}"


class ModelVersion(models.Model):
    """A checkpoint, and all that is known of how it came to be; it outlives its job."""

    model = models.ForeignKey(NamedModel, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    held = models.OneToOneField(
        "storage.HeldCheckpoint", on_delete=models.RESTRICT, related_name="version"
    )
    job_id = models.CharField(max_length=12, help_text="Which wrote it; it may be gone.")
    job_name = models.CharField(max_length=80)
    epoch = models.FloatField()
    bytes = models.BigIntegerField(help_text="Of all that is kept.")
    weights_bytes = models.BigIntegerField()
    metrics = models.JSONField(help_text="What was logged right after its step, by name.")
    code = models.CharField(max_length=64, blank=True, help_text="Digest of its job's snapshot.")
    sources = models.JSONField(help_text="Of data that its job used: name, path and version.")
    spec = models.JSONField(help_text="Of its job, with every default filled in.")
    note = models.CharField(max_length=500, blank=True, help_text="What somebody says of it.")
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=("model", "number"), name="versions_have_own_numbers"),
        )

    def __str__(self) -> str:
        return f"{self.model.name}@{self.number}"


class ModelAlias(models.Model):
    """A word for one version of a model, such as `production`, which may be moved to another."""

    model = models.ForeignKey(NamedModel, on_delete=models.CASCADE, related_name="aliases")
    word = models.CharField(max_length=40, validators=[slug_validator])
    version = models.ForeignKey(ModelVersion, on_delete=models.RESTRICT, related_name="aliases")

    class Meta:
        ordering = ("word",)
        constraints = (
            models.UniqueConstraint(fields=("model", "word"), name="a_word_means_one_version"),
        )

    def __str__(self) -> str:
        return f"{self.model.name}@{self.word}"
