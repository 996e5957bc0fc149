"""How does a person prove by the provider's pages who they are? Authlib checks what it answers.

The way is OpenID Connect's code flow with PKCE, a state and a nonce. What the way back needs is in
a signed cookie of that browser, so a visitor costs no row, and nobody else's answer fits.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from threading import Lock
from typing import Any, Final

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import BaseApp, OAuth2Mixin, OpenIDMixin
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from django.conf import settings
from django.core import signing
from joserfc.errors import JoseError
from requests.exceptions import RequestException

from tenancy.single_sign_on.claims import VouchedPerson, has_groups, person_in
from tenancy.single_sign_on.fetching import BoundedAdapter, one_of_few
from tenancy.single_sign_on.refusals import (
    AnswerInvalid,
    ProviderAway,
    ProviderOff,
    ProviderSaidNo,
    SignInInterrupted,
)
from tenancy.single_sign_on.terms import ProviderTerms

LASTS_SECONDS: Final = 600  # from the button until the provider sends them back
LONGEST_ANSWER: Final = 4096  # characters of a code
_KNOWN_SECONDS: Final = 3600.0  # that the provider's addresses and keys count
_SALT: Final = "tenancy.single_sign_on.provider"
_LEEWAY_SECONDS: Final = 60  # between its clock and ours
# Of a key that only the provider has: a secret shared with us, or none at all, proves nothing.
_ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES: Final = ("ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_MALFORMED: Final = (
    *(AuthlibBaseError, JoseError),
    *(ValueError, TypeError, LookupError, AttributeError, RecursionError),
)
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_MORE: Final = "userinfo_endpoint"  # which a provider may do without


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunSignIn:
    """What a browser keeps until it comes back."""

    state: str
    nonce: str
    verifier: str
    goes_to: str  # a local path


class _Session(OAuth2Session):  # type: ignore[misc]  # Authlib has no types
    """Authlib's, within bounds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.trust_env = False  # no proxy, and no password of a .netrc, by accident
        self.mount("https://", BoundedAdapter())
        self.mount("http://", BoundedAdapter())


class _App(OAuth2Mixin, OpenIDMixin, BaseApp):  # type: ignore[misc]  # Authlib has no types
    """Authlib's client, without a framework around it."""

    client_cls = _Session


class IdentityProvider:
    """The provider of these terms; its addresses and keys are asked for once in an hour."""

    def __init__(self, terms: ProviderTerms) -> None:
        self._terms = terms
        self._lock = Lock()
        self._known: tuple[float, _App] | None = None

    def begin(self, goes_to: str) -> tuple[str, str]:
        """Return the provider's address for the browser, and what it keeps meanwhile.

        Raises:
            ProviderAway: it does not answer, or not as it should.
        """
        begun = BegunSignIn(
            state=secrets.token_urlsafe(24),
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            goes_to=goes_to,
        )
        made = self._app().create_authorization_url(
            self._terms.redirect_uri,
            state=begun.state,
            nonce=begun.nonce,
            code_verifier=begun.verifier,
        )
        return made["url"], signing.dumps(asdict(begun), salt=_SALT)

    def finish(self, kept: str, answer: Mapping[str, str]) -> tuple[VouchedPerson, str]:
        """Return whom the provider vouches for, and where they wanted to go.

        Raises:
            SignInInterrupted: this browser began no such sign-in, or too long ago.
            ProviderSaidNo: the provider sent them back without a code.
            AnswerInvalid: what it answered is not for us, not now, or not signed by it.
            ProviderAway: it does not answer, or not as it should.
        """
        begun = _begun(kept)
        if not secrets.compare_digest(answer.get("state", "").encode(), begun.state.encode()):
            raise SignInInterrupted("The state is another.")
        if "error" in answer:
            raise ProviderSaidNo(answer["error"][:200])
        code = answer.get("code", "")
        if not 0 < len(code) <= LONGEST_ANSWER:
            raise ProviderSaidNo("It sent no code.")
        if "iss" in answer and answer["iss"] != self._terms.issuer:  # RFC 9207
            raise AnswerInvalid("Another provider has answered.")
        claims = self._claims(code, begun)
        person = person_in(claims, issuer=self._terms.issuer, groups_claim=self._terms.groups_claim)
        return person, begun.goes_to

    def _claims(self, code: str, begun: BegunSignIn) -> dict[str, Any]:
        """Exchange the code; return what the token says, and what else the provider tells."""
        app = self._app()
        with one_of_few():
            try:
                token = app.fetch_access_token(
                    self._terms.redirect_uri, code=code, code_verifier=begun.verifier
                )
                claims = app.parse_id_token(
                    token,
                    nonce=begun.nonce,
                    claims_cls=CodeIDToken,
                    claims_options={
                        "iss": {"essential": True, "value": self._terms.issuer},
                        "aud": {"essential": True, "value": self._terms.client_id},
                        "nonce": {"essential": True, "value": begun.nonce},
                    },
                    leeway=_LEEWAY_SECONDS,
                )
                if claims is None:
                    raise AnswerInvalid("There is no id_token.")
                return self._with_more(app, token, dict(claims))
            except (RequestException, OSError) as problem:
                raise ProviderAway(_told(problem)) from problem
            except _MALFORMED as problem:
                raise AnswerInvalid(_told(problem)) from problem

    def _with_more(
        self, app: _App, token: Mapping[str, Any], claims: dict[str, Any]
    ) -> dict[str, Any]:
        """Ask for the groups where the token has none, as OpenID Connect lets providers do."""
        asks = bool(app.server_metadata.get(_MORE))
        if has_groups(claims, self._terms.groups_claim) or not asks:
            return claims
        told = dict(app.userinfo(token=token))
        if told.get("sub") != claims.get("sub"):
            raise AnswerInvalid("The provider tells of somebody else.")
        return told | claims

    def _app(self) -> _App:
        """Return Authlib's client, with the provider's own description of itself."""
        with self._lock:
            known = self._known
        if known is not None and time.monotonic() - known[0] < _KNOWN_SECONDS:
            return known[1]
        app = _App(
            None,
            name="provider",
            client_id=self._terms.client_id,
            client_secret=self._terms.client_secret,
            client_kwargs={"scope": self._terms.scopes, "code_challenge_method": "S256"},
            server_metadata_url=f"{self._terms.issuer.rstrip('/')}/.well-known/openid-configuration",
        )
        with one_of_few():
            try:
                self.check(app.load_server_metadata())
            except (RequestException, OSError, *_MALFORMED) as problem:
                raise ProviderAway(_told(problem)) from problem
        with self._lock:
            self._known = (time.monotonic(), app)
        return app

    def check(self, told: dict[str, Any]) -> None:
        """Raises: ValueError, if the description is not that of our provider."""
        if told.get("issuer") != self._terms.issuer:
            raise ValueError(
                f"It calls itself {str(told.get('issuer'))[:200]!r}: use that as the issuer."
            )
        is_secure = self._terms.issuer.startswith("https://")
        for name in (*_ENDPOINTS, *([_MORE] if told.get(_MORE) else [])):
            address = told.get(name)
            if not isinstance(address, str) or not address.startswith(
                "https://" if is_secure else ("http://", "https://")
            ):
                raise ValueError(f"It names no {name} that is encrypted as its issuer is.")
        named = told.get("id_token_signing_alg_values_supported") or ["RS256"]
        usable = [one for one in named if one in (*_ALGORITHMS, *_CURVES)]
        if not usable:
            raise ValueError(f"It signs by none of {', '.join((*_ALGORITHMS, *_CURVES))}.")
        told["id_token_signing_alg_values_supported"] = usable


@cache
def provider_of(terms: ProviderTerms) -> IdentityProvider:
    """Return the provider of this process, with what is known of it."""
    return IdentityProvider(terms)


def provider() -> IdentityProvider:
    """Return the one that is set up. Raises: ProviderOff."""
    terms: ProviderTerms | None = settings.CONCERTINA.provider
    if terms is None:
        raise ProviderOff
    return provider_of(terms)


def _begun(kept: str) -> BegunSignIn:
    try:
        return BegunSignIn(**signing.loads(kept, salt=_SALT, max_age=LASTS_SECONDS))
    except (signing.BadSignature, TypeError) as problem:
        raise SignInInterrupted("The cookie is missing, too old or not ours.") from problem


def _told(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {problem}"[:300]
