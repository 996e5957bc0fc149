"""Of which system is a file, and what would its job be here?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from concertina.conversion import determined_config, pytorch_job, slurm_script
from concertina.conversion.converted import Converted, Source
from concertina.errors import BadInput
from concertina.input.yaml_documents import document_of


def convert(text: str, name: str, source: Source | None) -> Converted:
    """Convert the text of a file of that name; without a source it is what it looks like.

    Raises:
        BadInput: it is none of these, or cannot be read.
    """
    if source is Source.SLURM or (source is None and "#SBATCH" in text):
        return slurm_script.convert(text)
    document, _ = document_of(text, name)
    if not isinstance(document, Mapping):
        raise BadInput(f"{name} is neither a batch script with #SBATCH lines nor a mapping.")
    match source or _recognised(document):
        case Source.PYTORCH_JOB:
            return pytorch_job.convert(document)
        case Source.DETERMINED:
            return determined_config.convert(document)
        case _:
            raise BadInput(
                f"{name} is no batch script with #SBATCH lines, no PyTorchJob, and no configuration"
                " of Determined with an entrypoint. Say which it is: --from slurm."
            )


def _recognised(document: Mapping[str, Any]) -> Source | None:
    if document.get("kind") == "PyTorchJob":
        return Source.PYTORCH_JOB
    return Source.DETERMINED if "entrypoint" in document else None
