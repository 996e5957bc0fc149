"""How does a job become a document? By the one serializer of its kind, which is made once.

To make one takes longer than to use it: it looks at each field of the model. It keeps nothing of
what it represents, so all requests share it.
"""

from __future__ import annotations

from typing import Any, Final

from rest_framework.serializers import BaseSerializer

_made: Final[dict[type[BaseSerializer[Any]], BaseSerializer[Any]]] = {}


def represented(by: type[BaseSerializer[Any]], value: object) -> Any:
    """Return the document that an answer contains."""
    if by not in _made:
        _made[by] = by()
    return _made[by].to_representation(value)
