"""`python -m concertina`: the command line, where its script is not on the PATH."""

from __future__ import annotations

from concertina.main import main

main()
