"""Our own format as JSON: all of a trace, and the profiles it uses; both ways without loss."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from autoscaler.planning.snapshot.job_terms import BatchRange, Utility
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from autoscaler.planning.speed.throughput import ThroughputModel
from autoscaler.simulation.engine.truth.profiles import Profile
from autoscaler.simulation.engine.workload.applications import PROFILES
from autoscaler.simulation.engine.workload.importers.json_text import parsed
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError
from autoscaler.simulation.engine.workload.trace import (
    InvalidTraceError,
    Trace,
    TraceJob,
    problems_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FORMAT: Final = "concertina-trace"
VERSION: Final = 1

_KINDS: Final = {"str": (str,), "int": (int,), "float": (float, int), "bool": (bool,)}
_HUGE: Final = 1e300  # no quantity of a workload is as large
_WORDS: Final = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}

Part = TypeVar("Part")


def to_json(trace: Trace) -> str:
    """One object: format, version, name, profiles by name, jobs."""
    profiles = {job.profile.name: job.profile for job in trace.jobs}
    if any(profiles[job.profile.name] != job.profile for job in trace.jobs):
        raise InvalidTraceError(f"trace {trace.name} has two profiles of one name")
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": trace.name,
        "profiles": {name: asdict(profile) for name, profile in sorted(profiles.items())},
        "jobs": [asdict(job) | {"profile": job.profile.name} for job in trace.jobs],
    }
    return json.dumps(document, indent=1) + "\n"


def from_json(text: str) -> Trace:
    document = parsed(text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidRecordingError(f'expected an object with "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        raise InvalidRecordingError(f"version {document.get('version')}; expected {VERSION}")
    described, submitted = document.get("profiles", {}), document.get("jobs", [])
    if not isinstance(described, dict) or not isinstance(submitted, list):
        raise InvalidRecordingError('expected "profiles" as an object and "jobs" as a list')
    profiles = {
        name: _part(f"profile {name}", partial(_profile, value))
        for name, value in described.items()
    }
    known = PROFILES | profiles
    return Trace(
        name=str(document.get("name", "trace")),
        jobs=tuple(
            _part(f"job {number}", partial(_job_of, value, known))
            for number, value in enumerate(submitted, 1)
        ),
    )


def _profile(value: dict[str, Any]) -> Profile:
    profile = Profile(
        **value
        | {
            "model": _typed(ThroughputModel(**value["model"])),
            "batch": _typed(BatchRange(**value["batch"])),
            "noise": tuple((float(start), float(phi)) for start, phi in value.get("noise", ())),
        }
    )
    return _typed(profile)


def _job_of(value: dict[str, Any], profiles: Mapping[str, Profile]) -> TraceJob:
    profile = profiles[value["profile"]]
    allowed, utility = value.get("allowed_workers"), value.get("utility")
    job = TraceJob(
        **value
        | {
            "profile": profile,
            "batch": _typed(BatchRange(**value["batch"])) if "batch" in value else profile.batch,
            "allowed_workers": None if allowed is None else tuple(allowed),
            "preemptibility": Preemptibility(value.get("preemptibility", "preemptible")),
            "utility": None
            if utility is None
            else Utility(points=tuple((float(at), float(usd)) for at, usd in utility["points"])),
        }
    )
    for problem in problems_of(_typed(job)):
        raise ValueError(problem)
    return job


def _typed(part: Part) -> Part:
    """The part itself, if its plain fields hold what they are declared as.

    Raises:
        ValueError: names the field, what is there and what should be.
    """
    for one in fields(part):  # type: ignore[arg-type] # parts are dataclasses
        names = str(one.type).split(" | ")
        kinds = tuple(kind for name in names for kind in _KINDS.get(name, ()))
        value = getattr(part, one.name)
        if kinds and not (value is None and "None" in names) and not _is_a(kinds, value):
            raise ValueError(f"{one.name} is {repr(value)[:40]}; expected {_WORDS[kinds[0]]}")
    return part


def _is_a(kinds: tuple[type, ...], value: Any) -> bool:
    if isinstance(value, bool):
        return bool in kinds
    is_huge = isinstance(value, int | float) and not abs(value) < _HUGE
    return isinstance(value, kinds) and not is_huge


def _part(what: str, build: Callable[[], Part]) -> Part:
    """Build one part of a document; what is wrong with it becomes a sentence."""
    try:
        return build()
    except KeyError as error:
        raise InvalidRecordingError(f"{what}: {error} is missing or not known") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRecordingError(f"{what}: {error}") from None
