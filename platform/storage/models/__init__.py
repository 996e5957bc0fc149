"""What does the database know of what is kept for jobs?

code_snapshot, data_snapshot  what teams uploaded; `snapshot`: what both have in common
data_source, data_copy        where data lies, and what was fetched of it
held_checkpoint, named_model  what stays for jobs and under names
unwanted_result               what somebody deleted, until it is gone
"""

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
