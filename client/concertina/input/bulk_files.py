"""Which jobs does a file of many describe? In any of four forms, which all become one.

- `jobs:` with a list of job specs, as the service takes them
- `spec:` with one, and `changes:` with what differs in each job, as the service takes them
- a list of job specs
- a job spec in JSON on each line
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from concertina.errors import BadInput
from concertina.input import job_files, overrides
from concertina.input.job_files import JobFile

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMS = ({"jobs"}, {"spec", "changes"})


def read(path: str, assignments: Iterable[str] = ()) -> JobFile:
    """Read a file of many jobs, each with every `key=value` done; `-` is the standard input.

    Relative `workdir`s are meant from the file's folder.

    Raises:
        BadInput: it cannot be read, has none of the forms, or an assignment leads nowhere.
    """
    text, name = job_files.text_of(path)
    file = _lines(text, name) if _has_lines(text) else _whole(text, name)
    specs = [*file.spec.get("jobs", ()), file.spec.get("spec")]
    wanted = list(assignments)
    for spec in filter(_is_mapping, specs):
        spec.update(overrides.applied(spec, wanted))
    for part in filter(_is_mapping, [*specs, *file.spec.get("changes", ())]):
        job_files.settle_workdir(part, path)
    return file


def _is_mapping(part: object) -> bool:
    return isinstance(part, dict)


def _has_lines(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and all(line[0] == "{" and line[-1] == "}" for line in lines)


def _lines(text: str, name: str) -> JobFile:
    jobs: list[Any] = []
    places: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            spec, _ = job_files.document_of(line, f"{name}, line {number}")
            places[f"jobs[{len(jobs)}]"] = number
            jobs.append(spec)
    return JobFile(name=name, spec={"jobs": jobs}, lines=places)


def _whole(text: str, name: str) -> JobFile:
    document, lines = job_files.document_of(text, name)
    if isinstance(document, list):
        lines = {f"jobs{place}": line for place, line in lines.items()}
        document = {"jobs": document}
    is_bulk = isinstance(document, dict) and set(document) in _FORMS
    if not is_bulk or not all(
        isinstance(document.get(one, []), list) for one in ("jobs", "changes")
    ):
        raise BadInput(
            f"{name} has not many jobs: write a list of job specs, or `spec:` with one and"
            " `changes:` with a list of what differs in each."
        )
    return JobFile(name=name, spec=document, lines=lines)
