"""How is an answer written? As JSON, which knows neither NaN nor infinity: they become null.

Numbers are bounded where they come in, and serializers check their divisions; this is for the
number that somebody forgets: one null instead of no answer at all.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import JSONRenderer

_log = logging.getLogger(__name__)


class FiniteJsonRenderer(JSONRenderer):
    """The usual renderer; it looks at each number only if that one refuses."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        try:
            written = super().render(data, accepted_media_type, renderer_context)
        except ValueError:
            _log.exception("An answer has a number that is not finite.", extra={"action": "answer"})
            written = super().render(_finite(data), accepted_media_type, renderer_context)
        return bytes(written)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value
