"""Are the client's types those of the API's description, and the page of roles that of the code?"""

from __future__ import annotations

from pathlib import Path

import pytest

from concertina.states import FINAL_STATES, LIVE_STATES
from jobs.lifecycle import FINAL, LIVE
from tests.architecture import written_roles
from tests.architecture.written_documents import written

WRITTEN = {**written(), **written_roles.written()}


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_they_are_up_to_date(path: Path) -> None:
    assert path.read_text() == WRITTEN[path], "run `make openapi` and commit the result"


def test_the_client_knows_in_which_states_a_job_is_over() -> None:
    assert (set(LIVE_STATES), set(FINAL_STATES)) == (LIVE, FINAL)
