"""Which images may a team's jobs run? Those that a rule covers, and always the platform's own."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q

from tenancy.image_names import BadName, ImageName, ImagePattern, in_full
from tenancy.models import ImageRule, Team


class ImageNotAllowed(Exception):
    """A team's job may not run this image; the message is for its users."""

    def __init__(self, image: str, *, team: str, problem: str, remedy: str) -> None:
        super().__init__(f"Image {image} of team {team} {problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


def patterns_of(team: Team) -> list[str]:
    """Return the patterns of rules for everybody, for the team, and for the teams above it."""
    parents = Team.parents_by_name()
    names, above = [team.name], parents.get(team.name)
    while above is not None:
        names.append(above)
        above = parents.get(above)
    rules = ImageRule.objects.filter(Q(team=None) | Q(team__name__in=names))
    return sorted(set(rules.values_list("pattern", flat=True)))


def check(
    image: str, *, team: Team, platform_image: str | None, patterns: Sequence[str] | None = None
) -> ImageName:
    """Return the image in full, if the team may run it; `patterns`: its own, if read already.

    Raises:
        ImageNotAllowed: no rule covers it, or it does not name an image.
    """
    try:
        name = ImageName.parse(image)
    except BadName as error:
        raise ImageNotAllowed(
            image, team=team.name, problem=error.problem, remedy=error.remedy
        ) from None
    if platform_image and str(name) == in_full(platform_image):
        return name
    patterns = patterns_of(team) if patterns is None else patterns
    if any(ImagePattern.parse(pattern).covers(name) for pattern in patterns):
        return name
    raise ImageNotAllowed(
        image,
        team=team.name,
        problem=f"is not among the images that team {team.name} may use",
        remedy=_allowed(patterns, platform_image),
    )


def _allowed(patterns: Sequence[str], platform_image: str | None, most: int = 20) -> str:
    shown = [*([platform_image] if platform_image else []), *patterns]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return f"Use one of: {', '.join(shown[:most])}{more}; or ask an admin for a rule."
