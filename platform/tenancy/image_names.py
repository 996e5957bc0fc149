"""Which image does a name mean, and does a pattern cover it? Pure; names are read as Docker does.

Whatever a user writes is brought into one form first, `registry/repository:tag` or with
`@digest`: `python` is `docker.io/library/python:latest`. Patterns are compared with that form, and
nodes are told to fetch it, so that what was checked is what is run: a short name could also be
taken for the id of an image that a node happens to hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from tenancy.registries import DOCKER_HUB, canonical_registry, is_registry

LONGEST: Final = 400  # characters, in full; a repository has at most 255 in Docker, a digest 135
_MOST_STARS: Final = 5

_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_REPOSITORY: Final = re.compile(rf"{_COMPONENT}(?:/{_COMPONENT})*")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_OF_THE_HUB: Final = "library/"


class BadName(ValueError):
    """This does not name an image; the message says what is wrong, and what would be right."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem[:1].upper()}{problem[1:]}. {remedy}")
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageName:
    """An image, in full."""

    registry: str
    repository: str
    tag: str  # empty: the digest says which
    digest: str  # empty: the tag says which

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a name as Docker would.

        Raises:
            BadName: it does not name an image.
        """
        parts = _split(text)
        name = cls(
            registry=parts.registry,
            repository=_in_full(parts),
            tag=parts.tag or ("" if parts.digest else "latest"),
            digest=parts.digest or "",
        )
        is_one = (
            len(str(name)) <= LONGEST
            and not _DIGEST.fullmatch(text)  # an image's id
            and is_registry(parts.registry)
            and _REPOSITORY.fullmatch(parts.repository)
            and _fits(_TAG, parts.tag)
            and _fits(_DIGEST, parts.digest)
        )
        if not is_one:
            raise BadName(
                "is not an image's name",
                "Write it as registry/repository:tag in lower case, such as"
                " registry.example.com/vision/train:1.4.",
            )
        return name

    def __str__(self) -> str:
        return _written(self.registry, self.repository, self.tag, self.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePattern:
    """Images that may be used. `*` stands for any characters, slashes included.

    A registry is always written out. Without a tag every tag and digest is covered; with one, only
    names with such a tag and no digest, because where both stand the digest decides.
    """

    registry: str  # empty: every one
    repository: str
    tag: str = ""
    digest: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern.

        Raises:
            BadName: it could cover no image, or nobody could say which.
        """
        if text == "*":
            return cls(registry="", repository="*")
        parts = _split(text)
        if "*" in text.partition("/")[0] and "/" in text:
            raise BadName(
                "has a star in its registry",
                "Write the registry out, such as registry.example.com/vision/*; * alone covers"
                " every image there is.",
            )
        pattern = cls(
            registry=parts.registry,
            repository=_in_full(parts),
            tag=parts.tag or "",
            digest=parts.digest or "",
        )
        _check(str(pattern), parts)
        return pattern

    def covers(self, image: ImageName) -> bool:
        if self.registry and self.registry != image.registry:
            return False
        if not matches(self.repository, image.repository):
            return False
        if self.digest:
            return self.digest == image.digest
        return not self.tag or (not image.digest and matches(self.tag, image.tag))

    def __str__(self) -> str:
        if not self.registry:
            return "*"
        return _written(self.registry, self.repository, self.tag, self.digest)


def in_full(text: str) -> str:
    """Return the one form of a name; text that is none, an admin's slip, is unchanged."""
    try:
        return str(ImageName.parse(text))
    except BadName:
        return text


def registry_of(text: str) -> str:
    """Return the registry an image comes from; empty if the text is not a name."""
    try:
        return ImageName.parse(text).registry
    except BadName:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """A name cut into pieces, nothing of it checked; None: that piece is not there."""

    registry: str
    repository: str
    tag: str | None
    digest: str | None


def _split(text: str) -> _Parts:
    """Split a name; before the first slash is a registry if it looks like a host, as for Docker."""
    name, at, digest = text.partition("@")
    first, slash, rest = name.partition("/")
    is_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    registry, path = (canonical_registry(first), rest) if is_host else (DOCKER_HUB, name)
    repository, colon, tag = path.partition(":")
    return _Parts(
        registry=registry,
        repository=repository,
        tag=tag if colon else None,
        digest=digest if at else None,
    )


def _in_full(parts: _Parts) -> str:
    """Return the repository; Docker's own registry keeps single names under `library`."""
    path = parts.repository
    is_short = parts.registry == DOCKER_HUB and "/" not in path and path != "*"
    return _OF_THE_HUB + parts.repository if is_short else parts.repository


def _check(text: str, parts: _Parts) -> None:
    """Refuse a full pattern unless it would be a name with letters instead of its stars."""
    is_one = (
        len(text) <= LONGEST
        and text.count("*") <= _MOST_STARS
        and is_registry(parts.registry)
        and _REPOSITORY.fullmatch(parts.repository.replace("*", "a"))
        and _fits(_TAG, parts.tag and parts.tag.replace("*", "a"))
        and _fits(_DIGEST, parts.digest)
    )
    if not is_one:
        raise BadName(
            "is not a pattern of images' names",
            "Write it as registry/repository, such as registry.example.com/vision/*, if need be"
            f" with :tag or @digest, and at most {_MOST_STARS} stars.",
        )
    if parts.tag and parts.digest:
        raise BadName("has a tag and a digest", "Give one of them: the digest decides anyway.")


def _fits(grammar: re.Pattern[str], piece: str | None) -> bool:
    return piece is None or grammar.fullmatch(piece) is not None


def matches(pattern: str, text: str) -> bool:
    """Match in one pass: text between stars is found where it comes first, or not at all."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == first
    *inner, last = rest
    place, end = len(first), len(text) - len(last)
    if place > end or not (text.startswith(first) and text.endswith(last)):
        return False
    for literal in inner:
        found = text.find(literal, place, end)
        if found < 0:
            return False
        place = found + len(literal)
    return True


def _written(registry: str, repository: str, tag: str, digest: str) -> str:
    return f"{registry}/{repository}" + f":{tag}" * bool(tag) + f"@{digest}" * bool(digest)
