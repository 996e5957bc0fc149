"""How is a refusal shown, so that one knows what to change?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from concertina.documents import Problem


def problems_list(
    problems: Iterable[Problem], place_of: Callable[[str], str] = lambda _field: ""
) -> Text:
    """One block per problem: field and value, what is wrong, what to do.

    elastic.min_workers = 5  (job.yaml:12)
      is greater than max_workers (3)
      Use at most 3, or raise max_workers.
    """
    text = Text()
    for problem in problems:
        place = place_of(problem["field"])
        text.append(f"  {problem['field']} = {_value(problem.get('value'))}", style="bold")
        text.append(f"  ({place})\n" if place else "\n", style="bright_black")
        text.append(f"    {problem['problem']}\n")
        if problem.get("remedy"):
            text.append(f"    {problem['remedy']}\n", style="green")
    text.rstrip()
    return text


def _value(value: Any) -> str:
    """The value as it would stand in the file."""
    return "(not set)" if value is None else json.dumps(value, ensure_ascii=False)
