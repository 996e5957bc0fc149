"""May a token that is limited to pools or labels ask for this? Only about single jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import exceptions
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from tenancy.access.principal import PersonalTokenUser, TokenUser
from tenancy.access.token_bounds import TokenBounds

from control_plane.api.operation_permissions import OF_LIMITED_TOKENS

if TYPE_CHECKING:
    from rest_framework.views import APIView


class WithinTokenBounds(BasePermission):
    """Anybody but a limited token may ask; what comes of it is another question."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Raises: PermissionDenied, which says what the token is limited to."""
        user: Any = request.user
        if not isinstance(user, TokenUser | PersonalTokenUser):
            return True
        bounds = TokenBounds.of(user.token.pools, user.token.labels)
        if bounds is None:
            return True
        from control_plane.api.audit import operations  # noqa: PLC0415 - it needs all of DRF, which needs this

        name = operations.of_class(type(view), request.method or "")
        if name in OF_LIMITED_TOKENS:
            return True
        raise closed_to(bounds)


def closed_to(bounds: TokenBounds) -> exceptions.PermissionDenied:
    """Say that a token with these bounds may not ask for this."""
    return exceptions.PermissionDenied(
        f"This token is limited to {bounds}, and this is about more than single jobs. Use another"
        " token, or your password."
    )
