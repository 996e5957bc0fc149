"""Is what a script tells in a file or in its log seen by the service?"""

from __future__ import annotations

import pytest

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.telling import check_what_is_told

pytestmark = pytest.mark.timeout(1800)


def test_scripts_without_the_library_tell_how_far_they_are(stack: RunningStack) -> None:
    with stack.client("vision") as client:
        check_what_is_told(client)
