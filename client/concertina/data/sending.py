"""What is said to the service so that jobs may name a folder as data? Once for both clients."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, cast

from concertina.api.request import ApiRequest, segment
from concertina.connection.talks.uploading import Upload
from concertina.data.folders import FolderStream
from concertina.submissions import UploadedData

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from concertina.connection.talks.steps import Talk


def upload_folder(
    name: str,
    folder: Path,
    *,
    team: str,
    on_read: Callable[[int, int], None],
    on_progress: Callable[[int, int], None],
) -> Talk[UploadedData]:
    """Upload a folder for a team, unless it is there already, and let its jobs name it.

    Raises:
        BadInput: it cannot be sent.
        ConcertinaError: the service refuses it, or cannot be reached.
    """
    with FolderStream(folder, on_read=on_read) as stream:
        path = f"/teams/{segment(team)}/data/{stream.digest}"
        content = cast("IO[bytes]", stream)  # all that an upload needs of a file
        is_new = yield from Upload(path, content, stream.length, on_progress=on_progress).run()
        body = {"kind": "upload", "digest": stream.digest, "teams": [team]}
        yield ApiRequest.of("PUT", f"/data-sources/{segment(name)}", body=body)
        return UploadedData(
            digest=stream.digest, files=stream.files, bytes=stream.total, is_new=is_new
        )
