"""What was all that admins have set up, from one moment on until the next version's?"""

from __future__ import annotations

from django.db import models


class SetupVersion(models.Model):
    """The whole set-up, as the document that people write, from when it was noticed."""

    since = models.DateTimeField()
    version = models.CharField(max_length=32, help_text="As the API tells it.")
    setup = models.JSONField()

    class Meta:
        ordering = ("-since",)
        indexes = (models.Index(fields=("since",), name="setup_since"),)

    def __str__(self) -> str:
        return f"{self.version} from {self.since:%Y-%m-%d %H:%M} on"
