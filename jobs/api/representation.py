"""How does a job become a document? By the one serializer of its kind, which is made once.

To make one takes longer than to use it: it looks at each field of the model. It keeps nothing of
what it represents, so all requests share it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from rest_framework.serializers import BaseSerializer


def represented(by: type[BaseSerializer[Any]], value: object) -> Any:
    """Return the document that an answer contains."""
    return _made(by).to_representation(value)


@cache
def _made(by: type[BaseSerializer[Any]]) -> BaseSerializer[Any]:
    return by()
