"""What the chapters on elastic scripts show is what the examples say."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs/elastic-script"
TEXT = "\n".join(chapter.read_text() for chapter in sorted(FOLDER.glob("*.md")))
EXCERPTS = re.findall(r"```python\n# from (\S+)\n(.*?)\n```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("file", "excerpt"), EXCERPTS, ids=[file for file, _ in EXCERPTS])
def test_an_excerpt_stands_in_its_example(file: str, excerpt: str) -> None:
    lines = (ROOT / file).read_text().splitlines()
    length = len(excerpt.splitlines())
    stretches = ("\n".join(lines[i : i + length]) for i in range(len(lines)))
    assert any(textwrap.dedent(stretch) == excerpt for stretch in stretches)


def test_every_example_is_shown_or_linked() -> None:
    examples = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert examples == set(re.findall(r"\(\.\./\.\./examples/(\w+\.py)\)", TEXT))
    assert len({file for file, _ in EXCERPTS}) > 5
