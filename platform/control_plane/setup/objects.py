"""What does a set-up consist of? Pure: objects with fields, each under a key of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class SetupKind(StrEnum):
    """A kind of object; later ones name earlier ones."""

    POOL = "pool"
    NODE = "node"
    PREFETCHED_IMAGE = "prefetched image"
    TEAM = "team"
    QUOTA = "quota"
    IMAGE_RULE = "image rule"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class SetupKey:
    """Which object it is: its name, and of which team or pool where names are told apart there.

    A quota is of a team, and has the name of its pool. A rule is of a team, or of everybody, and
    has its pattern for a name. A node has a name that no other node has, in whichever pool.
    """

    kind: SetupKind
    of: str
    name: str

    def __str__(self) -> str:
        where = {
            SetupKind.QUOTA: f"{self.of} in {self.name}",
            SetupKind.TEMPLATE: f"{self.name} of {self.of}",
            SetupKind.IMAGE_RULE: f"{self.name} for {self.of or 'everybody'}",
            SetupKind.PREFETCHED_IMAGE: f"{self.name or 'of workers'} in {self.of}",
        }
        return f"{self.kind} {where.get(self.kind, self.name)}"


Fields = Mapping[str, Any]
SetupObjects = Mapping[SetupKey, Fields]
SetupGroup = tuple[SetupKind, str]  # objects that stand together in a document

KINDS: Final = tuple(SetupKind)
MOST_OBJECTS: Final = 5000  # of a document; guessed: far above what people can read
POOL_OF: Final = "pool"  # the field of a node


def group_of(key: SetupKey, fields: Fields) -> SetupGroup:
    """Return where an object stands: nodes stand in their pools."""
    return key.kind, fields[POOL_OF] if key.kind is SetupKind.NODE else key.of


def needed_by(key: SetupKey, fields: Fields) -> Sequence[SetupKey]:
    """Return the objects without which one is nowhere."""

    def pool(name: str) -> SetupKey:
        return SetupKey(SetupKind.POOL, "", name)

    match key.kind:
        case SetupKind.NODE:
            return [pool(fields[POOL_OF])]
        case SetupKind.PREFETCHED_IMAGE:
            return [pool(key.of)]
        case SetupKind.QUOTA:
            return [SetupKey(SetupKind.TEAM, "", key.of), pool(key.name)]
        case SetupKind.IMAGE_RULE | SetupKind.TEMPLATE if key.of:
            return [SetupKey(SetupKind.TEAM, "", key.of)]
        case _:
            return []


def path_of(key: SetupKey, fields: Fields | None = None) -> str:
    """Return the place of an object in the document."""
    in_team = f"teams.{key.of}"
    places = {
        SetupKind.POOL: f"pools.{key.name}",
        SetupKind.NODE: f"pools.{(fields or {}).get(POOL_OF, '')}.nodes.{key.name}",
        SetupKind.PREFETCHED_IMAGE: f"pools.{key.of}.prefetched_images",
        SetupKind.TEAM: f"teams.{key.name}",
        SetupKind.QUOTA: f"{in_team}.quotas.{key.name}",
        SetupKind.IMAGE_RULE: f"{in_team}.images" if key.of else "images",
        SetupKind.TEMPLATE: f"{in_team}.templates.{key.name}",
    }
    return places[key.kind]


def order_of(key: SetupKey) -> tuple[int, str, str]:
    """Return by what objects are put in order."""
    return KINDS.index(key.kind), key.of, key.name


def version_of(objects: SetupObjects) -> str:
    """Return a text that is another one whenever something is different."""
    listed = [[key.kind, key.of, key.name, objects[key]] for key in sorted(objects, key=order_of)]
    text = json.dumps(listed, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
