"""Of which system is a file, and what would its job be here?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from concertina.conversion import determined_config, pytorch_job
from concertina.conversion.converted import LONGEST_WORD, Converted, Source
from concertina.conversion.slurm import batch_script
from concertina.errors import BadInput
from concertina.input.yaml_documents import document_of

_MOST_LETTERS: Final = 1_000_000  # guessed: far more than anybody writes by hand
_IS_BATCH: Final = re.compile(r"^#SBATCH\b", re.MULTILINE)
_DOCUMENT: Final = re.compile(r"^---(?:\s.*)?$", re.MULTILINE)


def convert(text: str, name: str, source: Source | None) -> Converted:
    """Convert the text of a file of that name; without a source it is what it looks like.

    Raises:
        BadInput: it is none of these, or cannot be read.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if len(text) > _MOST_LETTERS:
        raise BadInput(
            f"{name} has more than {_MOST_LETTERS} letters: no job is described by that."
        )
    found = _converted(text, name, source)
    for word in found.spec["command"]:
        if len(word) > LONGEST_WORD:
            found.changed(
                "command",
                f"A word of it has {len(word)} letters, and the service takes {LONGEST_WORD}: save"
                " that script as a file beside the job file, and run it by [bash, FILE].",
            )
    return found


def _converted(text: str, name: str, source: Source | None) -> Converted:
    if source is Source.SLURM or (source is None and _IS_BATCH.search(text)):
        return batch_script.convert(text)
    if len([part for part in _DOCUMENT.split(text) if part.strip()]) > 1:
        raise BadInput(
            f"{name} holds several documents: keep that of one job, and convert it alone."
        )
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
