"""What does the database know of what is kept for jobs?"""

from storage.models.code_snapshot import CodeSnapshot
from storage.models.data_copy import DataCopy
from storage.models.data_snapshot import DataSnapshot
from storage.models.data_source import DataSource
from storage.models.held_checkpoint import HeldCheckpoint
from storage.models.named_model import ModelAlias, ModelVersion, NamedModel
from storage.models.unwanted_result import UnwantedResult

__all__ = [
    "CodeSnapshot",
    "DataCopy",
    "DataSnapshot",
    "DataSource",
    "HeldCheckpoint",
    "ModelAlias",
    "ModelVersion",
    "NamedModel",
    "UnwantedResult",
]
