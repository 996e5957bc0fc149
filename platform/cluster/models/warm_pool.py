"""Which containers wait for jobs to come?"""

from __future__ import annotations

from typing import Final

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from tenancy.image_names import BadName, ImageName

from cluster.models.pool import Pool

MOST_WARM: Final = 16  # containers of one image on a node; each holds some 250 MB


class WarmPool(models.Model):
    """Containers of one image that wait on each node of a pool, started and with all imported."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="warm_pools")
    image = models.CharField(
        max_length=255, blank=True, default="", help_text="Blank: the platform's worker image."
    )
    size = models.PositiveSmallIntegerField(
        validators=[MaxValueValidator(MOST_WARM)],
        help_text="On each node that takes work. 0: its image is fetched in advance, no more, which"
        " is also all that nodes with GPUs do: nobody can give a GPU to a container that runs.",
    )
    observed = models.JSONField(
        default=dict,
        blank=True,
        editable=False,
        help_text='What the control loop saw last: {"node-1": {"warm": 2, "note": ""}}.',
    )

    class Meta:
        ordering = ("pool__name", "image")
        constraints = (
            models.UniqueConstraint(fields=("pool", "image"), name="one_warm_pool_of_an_image"),
            models.CheckConstraint(
                condition=models.Q(size__lte=MOST_WARM), name="warm_pool_is_small"
            ),
        )

    def __str__(self) -> str:
        return f"{self.size} of {self.image or 'the worker image'} on each node of {self.pool}"

    def clean(self) -> None:
        """Refuse what names no image."""
        if not self.image:
            return
        try:
            ImageName.parse(self.image)
        except BadName as error:
            raise ValidationError({"image": f"This {error.problem}. {error.remedy}"}) from error
