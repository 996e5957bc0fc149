"""What can go wrong with a request about a team? One class per situation, each with a code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFault:
    """A field that is wrong, and what would be right. Never its value: it may be a secret."""

    field: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.field} {self.problem}. {self.remedy}"


class TenancyError(Exception):
    """A request about a team cannot be done."""

    code: ClassVar[str]
    status: ClassVar[int]

    def __init__(self, message: str = "", faults: Sequence[FieldFault] = ()) -> None:
        super().__init__(message or self.__doc__)
        self.faults = tuple(faults)


class SecretInvalid(TenancyError):
    """This secret cannot be stored."""

    code, status = "invalid_secret", 400

    def __init__(self, faults: Sequence[FieldFault]) -> None:
        super().__init__(" ".join(map(str, faults[:3])), faults)


class SecretInUse(TenancyError):
    """Live jobs name this secret; end them first, or force it."""

    code, status = "secret_in_use", 409


class RetentionRefused(TenancyError):
    """The team may not keep it for so long, or for so short."""

    code, status = "retention_refused", 400


class TooManySecrets(TenancyError):
    """The team keeps as many secrets as it may; delete one first."""

    code, status = "too_many_secrets", 409


class UnknownPerson(TenancyError):
    """There is no such account, or it is switched off; an admin makes accounts."""

    code, status = "unknown_person", 409


class UnknownMember(TenancyError):
    """Nobody of this name is entered in this very team; teams above are asked for theirs."""

    code, status = "not_found", 404


class AlreadyMember(TenancyError):
    """They are in the team already; change their role instead."""

    code, status = "already_member", 409


class TooManyMembers(TenancyError):
    """The team has as many members as it may; remove one first."""

    code, status = "too_many_members", 409


class TooManyTokens(TenancyError):
    """The team has as many valid tokens as it may; revoke one first."""

    code, status = "too_many_tokens", 409


class TokenNameTaken(TenancyError):
    """A valid token of the team has this name; rotate it, or use another name."""

    code, status = "token_exists", 409


class TokenLastsTooLong(TenancyError):
    """Only admins make tokens that last so long."""

    code, status = "token_lasts_too_long", 400


class AdminScopeNeedsAdmin(TenancyError):
    """Only admins give a token of theirs the scope `admin`."""

    code, status = "permission_denied", 403


class TokenHasEnded(TenancyError):
    """This token is expired or revoked; make a new one."""

    code, status = "token_ended", 409


class DeviceLoginUnknown(TenancyError):
    """No command line waits with this code: mistyped, used or expired. Run the login again."""

    code, status = "not_found", 404


class DeviceLoginEnded(TenancyError):
    """The code was used, or has expired; run the login again."""

    code, status = "expired_token", 409


class DeviceLoginWaits(TenancyError):
    """Nobody has said yes to this login in a browser."""

    code, status = "authorization_pending", 409


class ComeBackLater(TenancyError):
    """It is asked for too often; try again later."""

    code, status = "too_many_requests", 429

    def __init__(self, message: str, *, wait_seconds: float) -> None:
        self.retry_after_seconds = max(math.ceil(wait_seconds), 1)
        super().__init__(f"{message} Try again in {self.retry_after_seconds} s.")


class PolledTooOften(ComeBackLater):
    """A command line asks more often than it was told to."""

    code, status = "slow_down", 429


class RoleTooStrong(TenancyError):
    """You cannot give or take a role that may do more than you."""

    code, status = "permission_denied", 403


class RoleFromProvider(TenancyError):
    """A group of the identity provider gives this role; change it there, or ask an admin."""

    code, status = "role_from_provider", 409


class OnlyPeopleInvite(TenancyError):
    """Only people invite, since an invitation holds as long as its lead may give the role."""

    code, status = "permission_denied", 403


class InvitationUnknown(TenancyError):
    """This invitation was used, revoked, or has expired; ask for another one."""

    code, status = "not_found", 404


class TooManyInvitations(TenancyError):
    """The team has as many open invitations as it may; revoke one first."""

    code, status = "too_many_invitations", 409


class NameTaken(TenancyError):
    """Somebody has this user name; choose another one."""

    code, status = "name_taken", 409


class NoNewAccounts(TenancyError):
    """Nobody makes an account with a password here; sign in the way that the page offers."""

    code, status = "no_new_accounts", 403


class NoPassword(TenancyError):
    """You have no password here: you sign in by a provider or a proxy, which has yours."""

    code, status = "no_password", 409


class LastLead(TenancyError):
    """Nobody else leads the team; give somebody the role `lead` first, or ask an admin."""

    code, status = "last_lead", 409
