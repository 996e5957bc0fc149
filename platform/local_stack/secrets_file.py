"""Which secrets does this checkout keep? Signing key, the admin's password, the teams' tokens."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from local_stack.checkout import Checkout
from local_stack.stack_record import write_private


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Generated at the first start, kept in a file that only we can read."""

    secret_key: str
    admin_password: str
    admin_username: str = "admin"
    tokens: Mapping[str, str] = field(default_factory=dict)  # by team

    def with_tokens(self, tokens: Mapping[str, str]) -> Secrets:
        """The secrets with new tokens put in; those that are not named stay."""
        return replace(self, tokens={**self.tokens, **tokens})


def path(checkout: Checkout) -> Path:
    return checkout.state_dir / "secrets.json"


def load_or_create(checkout: Checkout) -> Secrets:
    """The checkout's secrets, made up when there are none yet."""
    try:
        return Secrets(**json.loads(path(checkout).read_text()))
    except FileNotFoundError:
        made = Secrets(
            secret_key=secrets.token_urlsafe(48), admin_password=secrets.token_urlsafe(9)
        )
        save(checkout, made)
        return made


def save(checkout: Checkout, kept: Secrets) -> None:
    write_private(path(checkout), json.dumps(asdict(kept), indent=2))
