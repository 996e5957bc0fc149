"""Our own format as JSON: all of a trace, and the profiles it uses; both ways without loss."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from autoscaler.planning.cluster_state import BatchRange, Preemptibility, Utility
from autoscaler.planning.throughput import ThroughputModel
from autoscaler.simulation.applications import PROFILES
from autoscaler.simulation.importers.table import InvalidRecordingError
from autoscaler.simulation.profiles import Profile
from autoscaler.simulation.trace import InvalidTraceError, Trace, TraceJob, problems_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FORMAT: Final = "concertina-trace"
VERSION: Final = 1

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
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidRecordingError(f"not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidRecordingError(f'expected an object with "format": "{FORMAT}"')
    if document.get("version") != VERSION:
        raise InvalidRecordingError(f"version {document.get('version')}; expected {VERSION}")
    profiles = {
        name: _part(f"profile {name}", partial(_profile, value))
        for name, value in document.get("profiles", {}).items()
    }
    known = PROFILES | profiles
    return Trace(
        name=document.get("name", "trace"),
        jobs=tuple(
            _part(f"job {number}", partial(_job_of, value, known))
            for number, value in enumerate(document.get("jobs", []), 1)
        ),
    )


def _profile(value: dict[str, Any]) -> Profile:
    return Profile(
        **value
        | {
            "model": ThroughputModel(**value["model"]),
            "batch": BatchRange(**value["batch"]),
            "noise": tuple((start, phi) for start, phi in value.get("noise", ())),
        }
    )


def _job_of(value: dict[str, Any], profiles: Mapping[str, Profile]) -> TraceJob:
    profile = profiles[value["profile"]]
    allowed, utility = value.get("allowed_workers"), value.get("utility")
    job = TraceJob(
        **value
        | {
            "profile": profile,
            "batch": BatchRange(**value["batch"]) if "batch" in value else profile.batch,
            "allowed_workers": None if allowed is None else tuple(allowed),
            "preemptibility": Preemptibility(value.get("preemptibility", "preemptible")),
            "utility": None
            if utility is None
            else Utility(points=tuple((at, dollars) for at, dollars in utility["points"])),
        }
    )
    for problem in problems_of(job):
        raise ValueError(problem)
    return job


def _part(what: str, build: Callable[[], Part]) -> Part:
    """Build one part of a document; what is wrong with it becomes a sentence."""
    try:
        return build()
    except KeyError as error:
        raise InvalidRecordingError(f"{what}: {error} is missing or not known") from None
    except (TypeError, ValueError) as error:
        raise InvalidRecordingError(f"{what}: {error}") from None
