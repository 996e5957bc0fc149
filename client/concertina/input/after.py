"""For which jobs is a new one to wait, as `--after JOB` and `--after JOB:any` say?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ENDS: Final = ("ok", "any", "failed")


def waiting(spec: Mapping[str, Any], after: Iterable[str]) -> dict[str, Any]:
    """Return the spec of a job that waits for these as well. Raises: BadInput."""
    entries = [_entry(one) for one in after]
    known = spec.get("depends_on") or []
    if not entries or not isinstance(known, list):
        return dict(spec)  # the service says what is wrong with it
    return {**spec, "depends_on": [*known, *entries]}


def _entry(text: str) -> dict[str, str]:
    job, _, when = text.partition(":")
    when = when or "ok"
    if not job or when not in _ENDS:
        raise BadInput(
            f"--after {text!r}: write JOB, an id or a name, or how it is to end as well: JOB:ok,"
            " JOB:any or JOB:failed."
        )
    return {"job": job, "when": when}
