"""Which images are fetched to the nodes of a pool before any job names them?"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from tenancy.image_names import BadName, ImageName

from cluster.models.pool import Pool


class PrefetchedImage(models.Model):
    """An image that is to be on each node of a pool that takes work."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="prefetched_images")
    image = models.CharField(
        max_length=255, blank=True, default="", help_text="Blank: the platform's worker image."
    )
    notes = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        editable=False,
        help_text='What the control loop heard last, by node: {"node-1": ""}. Empty: it is there.',
    )

    class Meta:
        db_table = "cluster_warmpool"  # its name in the former release, which goes on using it
        ordering = ("pool__name", "image")
        constraints = (
            models.UniqueConstraint(fields=("pool", "image"), name="one_warm_pool_of_an_image"),
        )

    def __str__(self) -> str:
        return f"{self.image or 'the worker image'} on each node of {self.pool}"

    def clean(self) -> None:
        """Refuse what names no image."""
        if not self.image:
            return
        try:
            ImageName.parse(self.image)
        except BadName as error:
            raise ValidationError({"image": f"This {error.problem}. {error.remedy}"}) from error
