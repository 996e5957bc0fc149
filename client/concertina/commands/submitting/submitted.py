"""What is said once a job was submitted, and how is it waited for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from concertina import exit_codes, words
from concertina.terminal.reporting import outcome_line, reporter

if TYPE_CHECKING:
    from concertina.documents import Job
    from concertina.submissions import Submission
    from concertina.terminal.session import Session


def tell(current: Session, submission: Submission) -> None:
    """Say which job came of it, and what its user should know."""
    job = submission.job
    if submission.is_new:
        current.terminal.say(f"Submitted {job['team']}/{job['name']} ({job['id']}).")
        for note in job.get("notes", ()):
            current.terminal.say(f"Note: {note}")
        return
    when = words.date_time(job["submitted_at"])
    current.terminal.say(f"This key had submitted {job['name']} ({job['id']}) at {when}.")


def finish(current: Session, submission: Submission, *, is_waiting: bool) -> None:
    """Wait for the job's outcome if that is wanted; programs get the job otherwise."""
    if is_waiting:
        wait_for(current, submission.job)
    elif current.terminal.is_for_programs:
        current.terminal.show_document(submission.job)


def wait_for(current: Session, job: Job) -> None:
    """Stay until it is final, and leave with the exit code of its outcome."""
    terminal = current.terminal
    try:
        with reporter(terminal.err, current.client.clock) as watcher:
            final = current.client.wait(
                job["id"],
                on_event=watcher.event,
                on_progress=watcher.progress,
                progress_seconds=watcher.seconds,
            )
    except KeyboardInterrupt:
        terminal.say(f"The job goes on. `concertina cancel {job['id']}` ends it.")
        raise
    if terminal.is_for_programs:
        terminal.show_document(final)
    else:
        terminal.out.print(outcome_line(final), soft_wrap=True)
    if final["state"] != "completed" and final["message"]:
        terminal.say(final["message"], style="red")
    raise typer.Exit(exit_codes.of_outcome(final["state"], final["reason"]))
