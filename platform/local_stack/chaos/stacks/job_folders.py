"""Where does a job find its script, and where does it write down its steps?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.containers import image_names
from local_stack.demo import scripts
from local_stack.demo.scripts import Scripts

MOUNTED_AT: Final = PurePosixPath("/checkpoints")  # the one folder that a container may write to


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFolder:
    """The place of a job that is to be submitted."""

    scripts: Scripts
    seen_as: PurePosixPath  # its folder, by the job
    folder: Path | None  # the same, here; None: it is known with the job's id


def of_new_job(name: str, stack: TargetStack) -> JobFolder:
    if stack.machines is not None:
        return JobFolder(
            scripts=scripts.of_image(image_names.tag(image_names.DEMO)),
            seen_as=MOUNTED_AT,
            folder=None,
        )
    folder = stack.shared_dir / name
    folder.mkdir()
    folder.chmod(0o777)
    return JobFolder(
        scripts=scripts.of_checkout(stack.checkout.root),
        seen_as=PurePosixPath(folder),
        folder=folder,
    )


def folder_of(job_id: str, stack: TargetStack) -> Path:
    """Return what a job's containers see as that folder."""
    return stack.checkout.state_dir / "state" / "jobs" / job_id / "checkpoints"
