"""What can go wrong with what is kept for jobs? One class per situation, each with its code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

_NAMED: Final = 5  # of the jobs that use something


class StorageError(Exception):
    """A request about what is kept for jobs cannot be done."""

    code: ClassVar[str]
    status: ClassVar[int]

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.__doc__)


class SnapshotUnknown(StorageError):
    """This team has no such snapshot of code."""

    code, status = "not_found", 404


class SnapshotInvalid(StorageError):
    """What was uploaded is no snapshot of this digest."""

    code, status = "invalid_snapshot", 422


class ManifestInvalid(StorageError):
    """What was uploaded is no list of the files in a folder of data."""

    code, status = "invalid_manifest", 422


class WrongOffset(StorageError):
    """The upload goes on at another byte."""

    code, status = "wrong_offset", 409

    def __init__(self, received: int) -> None:
        super().__init__(f"The next byte of this upload is number {received}. Go on there.")
        self.received = received


class TooManyUploads(StorageError):
    """The team has as many uploads under way as it may; finish one first."""

    code, status = "too_many_uploads", 409


class TooMuchCode(StorageError):
    """The team keeps as much code as it may; delete jobs that you no longer need."""

    code, status = "too_much_code", 409


class TooMuchData(StorageError):
    """The team keeps as much uploaded data as it may; delete some first."""

    code, status = "too_much_data", 409


class ResultUnknown(StorageError):
    """The job has no such file or folder."""

    code, status = "not_found", 404


class CheckpointUnknown(StorageError):
    """The job has no such checkpoint."""

    code, status = "not_found", 404


class CheckpointInUse(StorageError):
    """Somebody would go on from this checkpoint."""

    code, status = "checkpoint_in_use", 409


class WeightsUnknown(StorageError):
    """An earlier release wrote this checkpoint, without plain weights; later ones have them."""

    code, status = "not_found", 404


class ModelUnknown(StorageError):
    """The team has no such version of a model."""

    code, status = "not_found", 404


class ModelInvalid(StorageError):
    """There cannot be such a model."""

    code, status = "invalid_model", 400


class ModelInUse(StorageError):
    """Somebody needs this version of a model."""

    code, status = "model_in_use", 409


class ModelNotStored(StorageError):
    """The version of a model is being stored. Try again in a few seconds."""

    code, status = "model_not_stored", 409


class ModelLost(StorageError):
    """The checkpoint was removed before it could be stored. Delete this version, add another."""

    code, status = "model_lost", 409


class TooManyModels(StorageError):
    """The team has as many models as it may; delete some first."""

    code, status = "too_many_models", 409


class SourceInvalid(StorageError):
    """There cannot be such a source of data."""

    code, status = "invalid_source", 400


class SourceInUse(StorageError):
    """Live jobs use this source of data."""

    code, status = "source_in_use", 409

    def __init__(self, users: Sequence[str]) -> None:
        more = f" and {len(users) - _NAMED} more" if len(users) > _NAMED else ""
        super().__init__(
            f"Live jobs use it: {', '.join(users[:_NAMED])}{more}. Wait until they have ended, or"
            " cancel them."
        )


class ResultIsData(StorageError):
    """A source of data shows these results."""

    code, status = "result_is_data", 409

    def __init__(self, source: str) -> None:
        super().__init__(f"Data source {source} shows these outputs to jobs. Delete it first.")


class TooManySources(StorageError):
    """There are as many sources of data as there may be; delete one first."""

    code, status = "too_many_sources", 409
