"""Can the reproduction report still be written? Little of everything; the numbers mean nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(600)
@pytest.mark.thorough
def test_the_quick_reproduction_writes_a_whole_page_with_its_pictures(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    module = (sys.executable, "-m", "benchmarks.reproduction", "--quick")
    folders = ("--docs", str(tmp_path), "--results", str(tmp_path / "results"))
    subprocess.run([*module, *folders], cwd=ROOT, env=environment, check=True, capture_output=True)
    page = (tmp_path / "reproduction.md").read_text()
    assert page.count("\n## ") == 5
    assert "holds" in page
    assert "$" not in page.replace("$/h", "")
    for name in ("founding-paper-horizon", "all-policies"):
        assert f"images/reproduction/{name}.svg" in page
        assert (tmp_path / "images" / "reproduction" / f"{name}.svg").stat().st_size > 1000
