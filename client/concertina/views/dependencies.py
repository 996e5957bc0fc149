"""For which jobs does a job wait, and which wait for it, in words?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.documents import Dependency, JobDependencies

_MOST: Final = 10
_TO_END: Final = {"ok": "to complete", "any": "to end", "failed": "to fail"}


def dependency_rows(dependencies: JobDependencies | None) -> Iterator[tuple[str, str]]:
    """Yield what a table of facts says of them; mostly nothing."""
    if dependencies is None:
        return
    if waits_for := dependencies["waits_for"]:
        shown = [_awaited(one) for one in waits_for[:_MOST]]
        yield "Starts after", "; ".join([*shown, *_more(len(waits_for))])
    if awaited_by := dependencies["awaited_by"]:
        shown = [f"{one['name']} ({one['job_id']})" for one in awaited_by[:_MOST]]
        more = _more(dependencies["awaited_by_total"])
        yield "Awaited by", "; ".join([*shown, *more])


def _awaited(one: Dependency) -> str:
    state = one["state"] or f"deleted{', ' if one['ended_as'] else ''}{one['ended_as']}"
    return f"{one['name']} ({one['job_id']}) {_TO_END[one['when']]}: {state}"


def _more(count: int) -> Iterator[str]:
    if count > _MOST:
        yield f"{count - _MOST} more"
