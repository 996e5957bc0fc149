"""Where is it written down what a script may do? What the runtime says to people points there."""

from __future__ import annotations

from typing import Final

PAGE: Final = "docs/elastic-script.md"
