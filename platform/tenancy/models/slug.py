"""What do names look like that are parts of addresses: of teams, secrets, pools?"""

from __future__ import annotations

from django.core.validators import RegexValidator

slug_validator = RegexValidator(
    r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$",
    "Use 1 to 40 lower-case letters, digits and hyphens, beginning with a letter.",
)
