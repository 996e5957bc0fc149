"""What is a source that is the outputs of a job? What another job wrote, where it wrote it.

The job is pinned as long as the source is there, so that nothing of it goes. It is shown whole, as
every source: a path in it is only looked up by whoever sees it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from storage.data.cache.room import NOWHERE, Key
from storage.data.rules import DataRules
from storage.errors import SourceInvalid
from storage.models import DataSource
from storage.results.folders import ResultFolder, Results

_JOB: Final = re.compile(r"[a-z0-9]{1,12}")


class OutputKind:
    """Its place is `job`."""

    is_fetched = False
    may_be_written = False

    def checked(self, place: Mapping[str, str], rules: DataRules) -> dict[str, str]:
        job_id = place.get("job", "")
        if not _JOB.fullmatch(job_id):
            raise SourceInvalid(f"{job_id[:80]!r} is not the id of a job.")
        self.folder({"job": job_id}, rules, NOWHERE)
        return {"job": job_id}

    def folder(self, place: Mapping[str, str], rules: DataRules, _: Key) -> Path:
        results = Results(
            state_dir=rules.state_dir, job_id=place["job"], place=ResultFolder.OUTPUTS
        )
        if not results.folder.is_dir() or results.folder.is_symlink():
            raise SourceInvalid(f"Job {place['job']} has no outputs.")
        return results.folder

    def overlaps(self, place: Mapping[str, str], other: Mapping[str, str]) -> bool:  # noqa: ARG002 - the port's
        return False

    def version(self, place: Mapping[str, str]) -> str:  # noqa: ARG002 - the port's
        return ""

    def stays(self, kept: Mapping[str, str], place: Mapping[str, str]) -> bool:
        return kept == place


def source_of(job_id: str) -> DataSource | None:
    """Return a source that shows the outputs of a job, if there is one."""
    found = DataSource.objects.filter(kind=DataSource.Kind.OUTPUT, place__job=job_id)
    return found.order_by("name").first()
