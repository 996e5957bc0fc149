"""What does a JSON text hold? Whatever is wrong with it becomes a sentence."""

from __future__ import annotations

import json
from typing import Any

from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidRecordingError(f"not JSON: {error}") from None
    except RecursionError:
        raise InvalidRecordingError("not JSON of ours: it is nested too deeply") from None
