"""What can be asked of the models of a team?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote

from concertina.errors import BadInput
from concertina.results import weights
from concertina.results.downloading import FileDownload

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from concertina.connection.connection import ApiConnection
    from concertina.documents import Model, ModelVersion, ModelVersionDetail

_BEFORE_VERSION: Final = "@"


class Models:
    """Versions are written as `NAME`, the newest, `NAME@3` or `NAME@production`."""

    def __init__(self, team: str, connection: ApiConnection) -> None:
        """`team`: the address of the team."""
        self._transport = connection.transport
        self._send = connection.send
        self._patience = connection.patience
        self._address = f"{team}/models"

    def all(self) -> list[Model]:
        """Return them by name, each with its versions, newest first."""
        return cast("list[Model]", self._send("GET", self._address)[1]["items"])

    def get(self, reference: str) -> ModelVersionDetail:
        """Say how a version came to be. Raises: NotFound."""
        return cast("ModelVersionDetail", self._send("GET", self._version(reference))[1])

    def add(
        self, name: str, *, job: str, step: int | str = "latest", alias: str = "", note: str = ""
    ) -> ModelVersionDetail:
        """Make a checkpoint of a job, by id or name, the next version of a model.

        Raises: NotFound (there is no such checkpoint), Refused
        """
        body = {"job": job, "step": str(step), "alias": alias, "note": note}
        address = f"{self._model(name)}/versions"
        made = self._send("POST", address, body=body, is_repeatable=False)[1]
        return cast("ModelVersionDetail", made)

    def set_alias(self, reference: str, alias: str) -> ModelVersion:
        """Let a word mean this version, whatever it meant before."""
        name, version = _parts(reference)
        body = {"version": version}
        return cast("ModelVersion", self._send("PUT", self._alias(name, alias), body=body)[1])

    def delete_alias(self, name: str, alias: str) -> None:
        """Raises: NotFound."""
        self._send("DELETE", self._alias(name, alias), is_repeatable=False)

    def download(
        self,
        reference: str,
        into: Path,
        *,
        on_progress: Callable[[int, int], None] = lambda _here, _all: None,
    ) -> ModelVersionDetail:
        """Write the weights to a file named `.safetensors`, or `.pt`, which takes PyTorch here.

        Raises: NotFound, BadInput (it cannot be written), Unreachable (it came damaged)
        """
        found = self.get(reference)

        def fetch(file: Path) -> int:
            exactly = self._version(f"{found['model']}{_BEFORE_VERSION}{found['version']}")
            download = FileDownload(
                self._transport, f"{exactly}/weights", {}, on_progress=on_progress
            )
            return download.into(file, self._patience())

        weights.bring(fetch, found["digest"], into)
        return found

    def delete(self, reference: str) -> None:
        """Delete a version, or for a name alone the model with all of them. There is no way back.

        Raises: NotFound, Refused (live jobs start from it, or there is a word for it)
        """
        of = self._version if _BEFORE_VERSION in reference else self._model
        self._send("DELETE", of(reference), is_repeatable=False)

    def _model(self, name: str) -> str:
        if _BEFORE_VERSION in name:
            raise BadInput(f"{name} names a version. Name the model alone.")
        return f"{self._address}/{_quoted(name)}"

    def _version(self, reference: str) -> str:
        name, version = _parts(reference)
        return f"{self._model(name)}/versions/{_quoted(version)}"

    def _alias(self, name: str, alias: str) -> str:
        return f"{self._model(name)}/aliases/{_quoted(alias)}"


def _parts(reference: str) -> tuple[str, str]:
    name, _, version = reference.partition(_BEFORE_VERSION)
    return name, version or "latest"


def _quoted(part: str) -> str:
    """What can be part of an address."""
    if not part or part in {".", ".."} or "/" in part:
        raise BadInput(f"{part!r} is no name. Write NAME, NAME@VERSION or NAME@ALIAS.")
    return quote(part, safe="")
