"""Who is somebody at the identity provider, and which account here is theirs?"""

from __future__ import annotations

from django.conf import settings
from django.db import models

LONGEST_ISSUER = 500


class ProviderIdentity(models.Model):
    """An account at a provider. Its issuer and subject find it again, no name and no mail address.

    An admin who makes one for an account that is there lets its person sign in to that account.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="provider_identity"
    )
    issuer = models.CharField(
        max_length=LONGEST_ISSUER, help_text="The provider's address, exactly as it is configured."
    )
    subject = models.CharField(
        max_length=255, help_text="The claim `sub` of the person: the audit log tells it."
    )
    mail = models.CharField(max_length=254, blank=True, default="", editable=False)
    made_admin = models.BooleanField(
        default=False, editable=False, help_text="True: a group made them an admin, and takes it."
    )
    is_shut_out = models.BooleanField(
        default=False,
        editable=False,
        help_text="True: switched off as nothing lets them in; on again when something does.",
    )
    confirmed_at = models.DateTimeField(
        null=True, editable=False, help_text="When the provider last vouched for them."
    )

    class Meta:
        verbose_name_plural = "provider identities"
        constraints = (
            models.UniqueConstraint(fields=("issuer", "subject"), name="one_person_per_subject"),
        )

    def __str__(self) -> str:
        return f"{self.person}: {self.subject} at {self.issuer}"
