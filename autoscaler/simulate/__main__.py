"""`python -m autoscaler.simulate` is `concertina-simulate`."""

from __future__ import annotations

from autoscaler.simulate.command import app

app(prog_name="concertina-simulate")
