"""Which images may the jobs of a team run?"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models

from tenancy.image_names import LONGEST, BadName, ImagePattern
from tenancy.models.team import Team


class ImageRule(models.Model):
    """Images that jobs may run. Without any rule only the platform's own image may be run."""

    team = models.ForeignKey(
        Team,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="image_rules",
        help_text="Whose jobs, those of teams below it included. Empty: everybody's.",
    )
    pattern = models.CharField(
        max_length=LONGEST + 100,  # in full it may be longer than as written
        help_text="Such as registry.example.com/vision/*; * stands for any characters.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pattern", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("team", "pattern"), nulls_distinct=False, name="one_rule_of_a_pattern"
            ),
        )

    def __str__(self) -> str:
        return f"{self.pattern} for {self.team or 'everybody'}"

    def clean(self) -> None:
        """Write the pattern in full, so that everybody sees what it covers."""
        try:
            self.pattern = str(ImagePattern.parse(self.pattern))
        except BadName as error:
            raise ValidationError({"pattern": f"This {error.problem}. {error.remedy}"}) from error
