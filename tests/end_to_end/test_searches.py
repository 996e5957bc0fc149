"""Does each browser test find its own jobs, whatever ran before it on the stack that all share?"""

from __future__ import annotations

import re
from pathlib import Path

BROWSER_TESTS = Path(__file__).parent
SEARCH = re.compile(r"""[?&]search=([\w-]+)|"Search jobs"\)\.fill\("([\w-]+)"\)""")


def test_no_other_module_names_a_job_as_one_searches() -> None:
    sources = {path: path.read_text() for path in BROWSER_TESTS.rglob("*.py")}
    shared = {
        (word, other.name)
        for path, source in sources.items()
        for word in (first or second for first, second in SEARCH.findall(source))
        for other, text in sources.items()
        if other != path and re.search(rf"""["']{word.rstrip("-0123456789")}\b""", text)
    }
    assert not shared, "a search that finds the jobs of another module fails in some order of tests"
