"""Why is a set-up not changed? One class per situation; each names the places in the document."""

from __future__ import annotations

from collections.abc import Sequence

from tenancy.errors import FieldFault, TenancyError

_MOST_NAMED = 3  # in the sentence; the details have them all


class SetupRefused(TenancyError):
    """This set-up cannot be."""

    code, status = "invalid_setup", 400

    def __init__(self, faults: Sequence[FieldFault]) -> None:
        super().__init__(" ".join(map(str, faults[:_MOST_NAMED])), faults)


class SetupInUse(TenancyError):
    """What is in use cannot be taken away."""

    code, status = "in_use", 409

    def __init__(self, faults: Sequence[FieldFault]) -> None:
        super().__init__(" ".join(map(str, faults[:_MOST_NAMED])), faults)


class SetupChangedMeanwhile(TenancyError):
    """Somebody has changed the set-up since you read it; look at what would change now."""

    code, status = "changed_meanwhile", 412


class SetupObjectMissing(TenancyError):
    """There is no such object."""

    code, status = "not_found", 404


class SetupObjectExists(TenancyError):
    """There is an object of this name already."""

    code, status = "already_there", 409
