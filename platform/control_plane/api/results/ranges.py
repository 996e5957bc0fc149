"""By which headers is only a part of a file asked for?"""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter

RANGES: Final = [
    OpenApiParameter(name, str, OpenApiParameter.HEADER, description=said)
    for name, said in (
        ("Range", "One range, such as `bytes=100-`; the answer is 206."),
        ("If-Range", "An ETag: the range counts for that content alone."),
        ("If-None-Match", "ETags: if one fits, the answer is 304."),
    )
]
