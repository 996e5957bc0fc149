"""How is a spec read that an earlier version accepted, or that somebody changed in the database?

A value out of bounds becomes the nearest within them; a working folder that would be refused today
for how it is written stays as it is. A field that cannot be read at all gets its default and is
named: such a job is looked after and can be ended, but is not planned.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from jobs.spec import timestamps
from jobs.spec.batch import Batch
from jobs.spec.job_spec import Elastic, JobSpec, Word
from jobs.spec.names import check_no_kernel_folder
from jobs.spec.parts.data_uses import DataUse
from jobs.spec.problems.validation import dotted

MOST_CHARACTERS: Final = 20_000_000  # of specs that are remembered; 10,000 of a usual length
_MOST_ROUNDS: Final = 20  # a mended field may show another that is wrong; guessed, more than nest
_BOUNDS: Final = ("ge", "le")
_WORD: Final = TypeAdapter(Word)
_STAND_INS: Final[Mapping[str, Any]] = {"name": "unreadable", "command": ["false"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSpec:
    """A spec that can be worked with, and which of its fields could not be read."""

    spec: JobSpec
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobExtent:
    """How large a job may be: all that lists show of a spec."""

    elastic: Elastic
    batch: Batch


class SpecUnreadable(Exception):
    """Fields of the stored spec cannot be read."""

    def __init__(self, fields: Sequence[str]) -> None:
        self.fields = tuple(name or "all of it" for name in fields)
        super().__init__(", ".join(self.fields))


def read(document: object) -> StoredSpec:
    """Read a stored `resolved_spec`; never raises, whatever is in it."""
    try:
        return StoredSpec(spec=JobSpec.from_resolved(document))
    except ValidationError:
        return _mended(document)


def read_extent(document: Mapping[str, Any]) -> JobExtent:
    """Read these parts alone, of which lists have no others; never raises, as `read`."""
    try:
        elastic = Elastic.model_validate(document["elastic"])
        return JobExtent(elastic=elastic, batch=Batch.model_validate(document["batch"]))
    except (LookupError, TypeError, ValidationError):
        spec = read(document).spec
        return JobExtent(elastic=spec.elastic, batch=spec.batch)


def read_data_uses(document: object) -> Sequence[DataUse]:
    """Read the field `data` alone; never raises, as `read`."""
    return read({**_STAND_INS, "data": document}).spec.data


def with_fetched_code(
    document: Mapping[str, Any], *, digest: str, commit: str, branch: str
) -> dict[str, Any]:
    """Return it with the snapshot and the commit that its repository became, and else as it is."""
    code = read(document).spec.code
    if code is None or code.git is None:  # it names no repository any more
        return {**document}
    git = code.git.model_copy(update={"commit": commit, "branch": branch})
    fetched = code.model_copy(update={"digest": digest, "git": git})
    return {**document, "code": fetched.model_dump(mode="json")}


class StoredSpecCache:
    """Readings of stored specs, by job; those that were used least recently are forgotten.

    Checking a spec costs more than everything else about a job that only waits, and a stored spec
    hardly ever changes, so a queue of hundreds of jobs costs a tick little.
    """

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most_characters = most_characters
        self._characters = 0
        self._known: OrderedDict[str, tuple[str, StoredSpec]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def read(self, job_id: str, text: str) -> StoredSpec:
        """Read a job's `resolved_spec`, as the database writes it, or remember what was read."""
        known = self._known.pop(job_id, None)
        if known is not None:
            self._characters -= len(known[0])
        if known is None or known[0] != text:
            known = (text, read(json.loads(text)))
        self._known[job_id] = known
        self._characters += len(text)
        while self._characters > self._most_characters:
            _, (forgotten, _) = self._known.popitem(last=False)
            self._characters -= len(forgotten)
        return known[1]


def _mended(document: object) -> StoredSpec:
    if not isinstance(document, dict):
        return StoredSpec(spec=_nothing(), unreadable=("",))
    mended, unreadable = deepcopy(document), dict[str, None]()
    as_it_is = _former_workdir(mended)
    for _ in range(_MOST_ROUNDS):
        try:
            spec = JobSpec.from_resolved(mended)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                if not (_is_clamped(mended, item) or _is_brought_in_bounds(mended, item)):
                    unreadable[_take_out(mended, item["loc"])] = None
        else:
            spec = spec.model_copy(update=as_it_is)
            return StoredSpec(spec=spec, unreadable=tuple(unreadable))
    return StoredSpec(spec=_nothing(), unreadable=("", *unreadable))


def _former_workdir(document: dict[str, Any]) -> dict[str, str]:
    """Take out a relative or winding folder, as was accepted; the kernel's were never safe."""
    workdir = document.get("workdir")
    try:
        as_it_is = check_no_kernel_folder(_WORD.validate_python(workdir, strict=True))
    except ValueError:
        return {}
    del document["workdir"]
    return {"workdir": as_it_is}


def _is_clamped(document: dict[str, Any], item: Mapping[str, Any]) -> bool:
    """Move a deadline, of which any year was accepted once, into bounds; True if it moved."""
    if item["loc"] != ("deadline",) or not isinstance(document.get("deadline"), str):
        return False
    try:
        nearest = timestamps.format_timestamp(timestamps.nearest_timestamp(document["deadline"]))
    except ValueError:
        return False
    is_other: bool = nearest != document["deadline"]
    document["deadline"] = nearest
    return is_other


def _is_brought_in_bounds(document: dict[str, Any], item: Mapping[str, Any]) -> bool:
    context = item.get("ctx", {})
    bound = next((context[name] for name in _BOUNDS if name in context), None)
    *path, last = item["loc"]
    inner = _inside(document, path)
    if bound is None or not isinstance(inner, dict) or last not in inner:
        return False
    inner[last] = bound
    return True


def _take_out(document: dict[str, Any], location: Sequence[int | str]) -> str:
    """Remove the innermost existing field, so that it gets its default; return its name."""
    for length in range(len(location), 0, -1):
        *path, last = location[:length]
        inner = _inside(document, path)
        if isinstance(inner, dict) and last in inner:
            del inner[last]
            break
    top = str(location[0])
    if top in _STAND_INS and top not in document:
        document[top] = _STAND_INS[top]
    return dotted(location)


def _inside(document: Any, path: Sequence[int | str]) -> Any:
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _nothing() -> JobSpec:
    return JobSpec.model_validate(_STAND_INS)
