"""When does what groups gave end by itself? When the provider has not confirmed it for long.

Who has left is out of the groups, and signs in no more; their tokens would go on for as long as
those last. So roles that groups gave, and the mark of an admin, are taken from whoever has not
signed in for so many days. Their next sign-in brings back what is still theirs.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from tenancy.models import Membership, ProviderIdentity
from tenancy.single_sign_on.accounts import take_what_groups_gave

_MOST_AT_ONCE: Final = 100  # the next run goes on
_log: Final = logging.getLogger(__name__)


def take_what_lapsed(
    now: datetime, confirmed_for: Mapping[str, timedelta | None], *, otherwise: timedelta
) -> int:
    """Take it, after what time is said by issuer, None: never; return from how many people.

    `otherwise` is for issuers that are not set up any more.
    """
    given = Membership.objects.filter(user_id=OuterRef("person_id"), from_provider=True)
    lapsed = ~Q(issuer__in=confirmed_for) & Q(confirmed_at__lt=now - otherwise)
    for issuer, lasts in confirmed_for.items():
        if lasts is not None:
            lapsed |= Q(issuer=issuer, confirmed_at__lt=now - lasts)
    old = ProviderIdentity.objects.filter(Q(made_admin=True) | Exists(given), lapsed)
    taken = 0
    for number in list(old.order_by("confirmed_at").values_list("pk", flat=True)[:_MOST_AT_ONCE]):
        with transaction.atomic():
            held = ProviderIdentity.objects.select_for_update(of=("self",))
            # Whoever signs in meanwhile is not old any more.
            one = held.filter(lapsed, pk=number).select_related("person").first()
            if one is None:
                continue
            before, after = take_what_groups_gave(one)
            taken += 1
        extra = {"action": "sign_in", "person": one.person.get_username(), "before": before}
        _log.info("Rights have lapsed, now %s: long not confirmed.", after, extra=extra)
    return taken
