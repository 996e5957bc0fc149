"""`python -m autoscaler.simulation.cli` is `concertina-simulate`."""

from __future__ import annotations

from autoscaler.simulation.cli.command import app

app(prog_name="concertina-simulate")
