"""Which folder of the service's state holds which data that was uploaded?"""

from __future__ import annotations

from dataclasses import dataclass

from storage.uploads.paths import UploadPaths

_CLOSED = 0o711  # jobs pass through, and see what they are shown: nobody can list it


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedPaths(UploadPaths):
    """Folders below `uploaded`."""

    kind = "uploaded"
    mode = _CLOSED
