"""Which verbs are there, and when is one loaded? When somebody uses it, and no other with it.

Whoever asks for help, or presses Tab, waits for all that is loaded: the table here is enough for
both. It says what the verbs' own docstrings say; a test holds it to them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from concertina.input.plain_values import parse_only_what_needs_it

# Where each verb is, and what help says of it; in the order in which help lists them.
VERBS: Final[dict[str, tuple[str, str]]] = {
    "login": ("login:login", "Remember a service, and a token with which to talk to it."),
    "logout": (
        "login:logout",
        "Forget what `login` remembered; a token of your own is revoked as well.",
    ),
    "whoami": (
        "login:whoami",
        "Say which service this is, as whom we talk to it, and where both come from.",
    ),
    "init": (
        "submitting.init:init",
        "Write a job file to begin with; nothing that is there is written over.",
    ),
    "convert": (
        "submitting.convert:convert",
        "Write the job file of a job of Slurm, Kubeflow or Determined, and what it cannot say.",
    ),
    "submit": (
        "submitting.submit:submit",
        "Queue a job, or many: those of a bulk, or of the spec's `array` or `sweep`.",
    ),
    "validate": ("submitting.submit:validate", "Ask what a submit would say, without submitting."),
    "wait": ("submitting.submit:wait", "Stay until a job is final; tell its outcome."),
    "ps": ("inspect:ps", "List jobs: the live ones, unless told otherwise."),
    "describe": ("inspect:describe", "Show a job whole: facts, generations, workers, events."),
    "explain": (
        "inspect:explain",
        "Say why a job waits, or has the workers it has, and how it came to that.",
    ),
    "advice": (
        "inspect:advice",
        "Tell what each GPU of a job brought, and with how many workers it would waste less.",
    ),
    "diff": ("diff:diff", "Show in what the specs of two jobs differ, and what came of each."),
    "usage": (
        "inspect:usage",
        "Show what a job's workers take of processors, memory and GPUs over time.",
    ),
    "storage": (
        "team.keeping:storage",
        "Show how much the jobs of a team keep on disk, of how much, and which of them most.",
    ),
    "logs": (
        "logs:logs",
        "Print a job's log, or save all of it; with --output json, one document per line.",
    ),
    "exec": (
        "shells.execute:execute",
        "Run a shell or a command beside a worker, where the team may; it ends when you leave.",
    ),
    "metrics": (
        "results.curves:metrics",
        "Write what a job logged over time, all points that are kept.",
    ),
    "tensorboard": (
        "results.curves:tensorboard",
        "Open the curves of jobs in TensorBoard, and go on writing them while the jobs train.",
    ),
    "pause": ("control:pause", "Checkpoint jobs and give their GPUs back, until they are resumed."),
    "resume": ("control:resume", "Queue paused jobs again; they go on from their checkpoints."),
    "cancel": ("control:cancel", "End jobs for good."),
    "edit": (
        "submitting.edit:edit",
        "Change what a live job asks for. It counts from the next planning tick on.",
    ),
    "rerun": (
        "submitting.edit:rerun",
        "Submit a job's spec once more, with changes of any of its fields.",
    ),
    "code": ("submitting.code:code", "Bring back the code that a job was submitted with."),
    "delete": (
        "removal:delete",
        "Forget jobs that have ended, with their logs and checkpoints. There is no way back.",
    ),
    "pin": ("removal:pin", "Keep all of these jobs, whatever their age."),
    "unpin": ("removal:unpin", "Let jobs go when their time has come."),
    "top": ("top:top", "Watch pools, teams and live jobs; Ctrl-C ends it."),
    "teams": (
        "installation.cluster:teams",
        "Show what each team is guaranteed, holds, borrows and lends, in GPUs.",
    ),
    "pools": (
        "installation.cluster:pools",
        "Show each pool's GPUs, how many are in use, what one more would be worth, and who asks.",
    ),
    "nodes": (
        "installation.cluster:nodes",
        "Show each node: its free GPUs, whether it takes new work, and if not, why.",
    ),
    "cordon": (
        "installation.cluster:cordon",
        "Place nothing new on a node; what runs there goes on (admins).",
    ),
    "drain": (
        "installation.cluster:drain",
        "Move running jobs away from a node, so that it may be switched off (admins).",
    ),
    "uncordon": ("installation.cluster:uncordon", "Place work on a node again (admins)."),
    "gpu-hours": (
        "team.gpu_hours:gpu_hours",
        "Show who used, lent and borrowed how many GPU-hours; by default in the last 30 days.",
    ),
    "fairness": (
        "team.gpu_hours:fairness",
        "Show whether a team was given what it was owed, and why not; by default in 30 days.",
    ),
    "report": (
        "team.gpu_hours:report",
        "Report a month: what a team held, lent and pays, by person and job, and the month before.",
    ),
    "simulate": (
        "installation.simulate:simulate",
        "Replay a workload under several policies: who would finish when, at which price?",
    ),
    "audit": (
        "team.audit:audit",
        "Show who changed what, who signed in, who was refused; a token may not: say --as whom.",
    ),
    "network": (
        "team.network:network",
        "See what the jobs of a team may ask for as their network; admins change it.",
    ),
    "open": ("dashboard:open_in_browser", "Open the dashboard, or a job's page, in a browser."),
    "run": ("submitting.run:run", "Queue a job that runs a command, with the code of this folder."),
    "admin": ("installation.admin:app", "All that admins set up, as one file."),
    "arrays": ("submitting.arrays:app", "Jobs that are trials of one spec, as a whole."),
    "checkpoints": (
        "results.checkpoints:app",
        "Look at, fetch or delete a job's checkpoints. `checkpoints JOB` lists them.",
    ),
    "context": (
        "installation.context:app",
        "Keep several installations apart, each with its own login.",
    ),
    "data": ("team.data:app", "See and change which data jobs may name."),
    "limits": (
        "team.limits:app",
        "How many jobs of a team run, and the GPUs and GPU-hours they use.",
    ),
    "members": ("team.members:app", "Who is in a team, and in which role."),
    "models": ("results.models:app", "Keep checkpoints under names. `models ls` lists them."),
    "outputs": (
        "results.outputs:app",
        "Look at, fetch or delete what a job writes to its outputs.",
    ),
    "schedules": ("submitting.schedules:app", "Job specs that are submitted again and again."),
    "sweeps": ("submitting.sweeps:app", "Trials of one spec, of which the best are searched."),
    "rules": ("specs.rules:app", "What a team says of the specs of its jobs."),
    "templates": ("specs.templates:app", "Parts of job specs that jobs begin with."),
    "tokens": ("team.tokens:app", "Which keys a team's programs have."),
    "webhooks": ("team.webhooks:app", "Which addresses are told what happens to jobs."),
    "retention": (
        "team.keeping:app",
        "See and choose for how long a team keeps what its jobs leave behind.",
    ),
    "price": ("installation.prices:app", "What a GPU-hour of a pool costs, and from when on."),
    "quota": ("team.quotas:app", "What a team may use of each pool."),
    "secrets": (
        "team.secrets:app",
        "Keep what only a team's jobs may know: variables, and logins of image registries.",
    ),
}
_ENDS_OUR_OPTIONS: Final = {"run"}  # what follows the first word is the command's own


class VerbGroup(TyperGroup):
    """The verbs, each known by its name and its help until it is used."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        parse_only_what_needs_it()
        for name, (_, said) in VERBS.items():
            self.commands[name] = TyperCommand(name, help=said)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the verb that is used, or completed, and load it."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if name is None else self.loaded(name), rest

    def loaded(self, name: str) -> Any:
        """Return a verb with all its options."""
        module, _, attribute = VERBS[name][0].partition(":")
        found = getattr(import_module(f"concertina.commands.{module}"), attribute)
        how: dict[str, Any] = {
            "pretty_exceptions_short": True,
            "rich_markup_mode": self.rich_markup_mode,
        }
        if isinstance(found, typer.Typer):
            info = TyperInfo(found, name=name)
            return get_group_from_info(info, suggest_commands=self.suggest_commands, **how)
        settings = {"allow_interspersed_args": False} if name in _ENDS_OUR_OPTIONS else None
        command = CommandInfo(name=name, callback=found, context_settings=settings)
        return get_command_from_info(command, **how)
