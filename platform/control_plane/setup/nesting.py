"""How is a set-up written? Pure: from the document that people read to objects, and back.

pools: {default: {gpu_type: a100, fair_share: {...}, nodes: {node-1: {gpus: 8}}}}
teams: {vision: {limits: {...}, quotas: {default: {guaranteed_gpus: 4}}, images: [...],
                 rules: {...}, templates: {nightly: {spec: {...}}}}}
images: [...]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from control_plane.setup.objects import (
    POOL_OF,
    Fields,
    SetupGroup,
    SetupKey,
    SetupKind,
    SetupObjects,
    order_of,
    path_of,
)

NODES: Final = "nodes"
PREFETCHED: Final = "prefetched_images"
QUOTAS: Final = "quotas"
IMAGES: Final = "images"
TEMPLATES: Final = "templates"
POOLS: Final = "pools"
TEAMS: Final = "teams"
PARTS: Final = ("fair_share", "limits", "rules")  # fields that stand together under a name
_LISTS: Final = frozenset({NODES, PREFETCHED, QUOTAS, IMAGES, TEMPLATES})


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSetup:
    """What a document says: some fields of some objects, and of which groups it names all."""

    objects: SetupObjects
    whole: frozenset[SetupGroup]
    named_twice: tuple[str, ...] = ()  # places of what is there a second time


def flattened(document: Mapping[str, Any]) -> WantedSetup:
    """Return what a document says."""
    found: dict[SetupKey, Fields] = {}
    twice: list[str] = []
    for key, fields in _objects(document):
        if key in found:
            twice.append(path_of(key, fields))
        found[key] = fields
    whole = frozenset(_groups(document))
    return WantedSetup(objects=found, whole=whole, named_twice=tuple(twice))


def nested(objects: SetupObjects) -> dict[str, Any]:
    """Return the whole set-up as a document, in an order that stays the same."""
    of_pools: dict[str, dict[str, Any]] = {}
    of_teams: dict[str, dict[str, Any]] = {}
    for_everybody: list[str] = []
    for key in sorted(objects, key=order_of):
        fields = objects[key]
        match key.kind:
            case SetupKind.POOL:
                of_pools[key.name] = {**_in_parts(fields), PREFETCHED: [], NODES: {}}
            case SetupKind.NODE:
                own = {name: value for name, value in fields.items() if name != POOL_OF}
                of_pools[fields[POOL_OF]][NODES][key.name] = own
            case SetupKind.PREFETCHED_IMAGE:
                of_pools[key.of][PREFETCHED].append(key.name)
            case SetupKind.TEAM:
                of_teams[key.name] = {**_in_parts(fields), QUOTAS: {}, IMAGES: [], TEMPLATES: {}}
            case SetupKind.QUOTA:
                of_teams[key.of][QUOTAS][key.name] = dict(fields)
            case SetupKind.TEMPLATE:
                of_teams[key.of][TEMPLATES][key.name] = dict(fields)
            case SetupKind.IMAGE_RULE:
                (of_teams[key.of][IMAGES] if key.of else for_everybody).append(key.name)
    return {POOLS: of_pools, TEAMS: of_teams, IMAGES: for_everybody}


def _objects(document: Mapping[str, Any]) -> Iterator[tuple[SetupKey, Fields]]:
    for pool, said in document.get(POOLS, {}).items():
        yield SetupKey(SetupKind.POOL, "", pool), _flat(said)
        for node, fields in said.get(NODES, {}).items():
            yield SetupKey(SetupKind.NODE, "", node), {**fields, POOL_OF: pool}
        for image in said.get(PREFETCHED, ()):
            yield SetupKey(SetupKind.PREFETCHED_IMAGE, pool, image), {}
    for team, said in document.get(TEAMS, {}).items():
        yield SetupKey(SetupKind.TEAM, "", team), _flat(said)
        for pool, fields in said.get(QUOTAS, {}).items():
            yield SetupKey(SetupKind.QUOTA, team, pool), fields
        for pattern in said.get(IMAGES, ()):
            yield SetupKey(SetupKind.IMAGE_RULE, team, pattern), {}
        for template, fields in said.get(TEMPLATES, {}).items():
            yield SetupKey(SetupKind.TEMPLATE, team, template), fields
    for pattern in document.get(IMAGES, ()):
        yield SetupKey(SetupKind.IMAGE_RULE, "", pattern), {}


def _groups(document: Mapping[str, Any]) -> Iterator[SetupGroup]:
    """Yield the groups that a document names: what it leaves out of them is not wanted."""
    if POOLS in document:
        yield SetupKind.POOL, ""
    for pool, said in document.get(POOLS, {}).items():
        for name, kind in ((NODES, SetupKind.NODE), (PREFETCHED, SetupKind.PREFETCHED_IMAGE)):
            if name in said:
                yield kind, pool
    if TEAMS in document:
        yield SetupKind.TEAM, ""
    for team, said in document.get(TEAMS, {}).items():
        for name, kind in (
            (QUOTAS, SetupKind.QUOTA),
            (IMAGES, SetupKind.IMAGE_RULE),
            (TEMPLATES, SetupKind.TEMPLATE),
        ):
            if name in said:
                yield kind, team
    if IMAGES in document:
        yield SetupKind.IMAGE_RULE, ""


def _flat(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields alone, those of a part under `part.field`."""
    own = {name: value for name, value in said.items() if name not in {*_LISTS, *PARTS}}
    for part in PARTS:
        own |= {f"{part}.{name}": value for name, value in said.get(part, {}).items()}
    return own


def _in_parts(fields: Fields) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields.items():
        part, dot, rest = name.partition(".")
        if dot:
            found.setdefault(part, {})[rest] = value
        else:
            found[name] = value
    return found
