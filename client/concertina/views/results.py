"""What do the results of jobs look like in a terminal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import (
        KeptCheckpoint,
        Model,
        ModelVersion,
        ModelVersionDetail,
        Output,
    )


def outputs_table(outputs: Iterable[Output]) -> FittingTable:
    table = FittingTable("SIZE", "WRITTEN", "PATH")
    for one in outputs:
        table.add_row(
            words.NOTHING if one["is_folder"] else words.size(one["bytes"]),
            words.date_time(one["modified_at"]),
            f"{one['path']}/" if one["is_folder"] else one["path"],
        )
    return table


def checkpoints_table(checkpoints: Iterable[KeptCheckpoint]) -> FittingTable:
    """Show those metrics that were logged after the very step of a checkpoint."""
    table = FittingTable("STEP", "EPOCH", "METRICS", "SIZE", "WRITTEN", "DIGEST")
    for one in checkpoints:
        own = (metric for metric in one["metrics"] if metric["step"] == one["step"])
        measured = "  ".join(f"{metric['name']} {words.number(metric['value'])}" for metric in own)
        table.add_row(
            str(one["step"]),
            words.number(one["epoch"]),
            measured or words.NOTHING,
            words.size(one["bytes"]),
            words.date_time(one["written_at"]),
            (one["digest"] or words.NOTHING)[:12],
        )
    return table


def models_table(models: Iterable[Model]) -> FittingTable:
    table = FittingTable("MODEL", "ALIASES", "METRICS", "SIZE", "FROM", "ADDED", "BY", "NOTE")
    for model in models:
        for one in model["versions"]:
            table.add_row(
                f"{one['model']}@{one['version']}",
                ", ".join(one["aliases"]) or words.NOTHING,
                _metrics(one) or words.NOTHING,
                words.size(one["weights_bytes"]) if one["state"] == "stored" else one["state"],
                f"{one['job_name']}/{one['step']}",
                words.date_time(one["created_at"]),
                one["created_by"],
                one["note"],
            )
        if not model["versions"]:
            nothing = [words.NOTHING] * 4
            added = words.date_time(model["created_at"])
            table.add_row(model["name"], *nothing, added, model["created_by"], "No versions.")
    return table


def model_text(model: ModelVersionDetail) -> str:
    """Tell how it came to be, line by line."""
    facts = {
        "Aliases": ", ".join(model["aliases"]),
        "State": model["state"],
        "From": f"step {model['step']} of {model['job_name']} ({model['job_id']})"
        + ("" if model.get("has_job", True) else ", which was deleted"),
        "Metrics": _metrics(model),
        "Weights": words.size(model["weights_bytes"]),
        "Digest": model["digest"],
        "Code": model["code"],
        "Data": ", ".join(
            f"{one['name']} {one['version'][:12]}".strip() for one in model["sources"]
        ),
        "Added": f"{words.date_time(model['created_at'])} by {model['created_by']}",
        "Note": model["note"],
    }
    rows = [f"{name + ':':<9} {value or words.NOTHING}" for name, value in facts.items()]
    return "\n".join((f"{model['model']}@{model['version']}", *rows))


def _metrics(model: ModelVersion) -> str:
    return "  ".join(f"{name} {words.number(one)}" for name, one in model["metrics"].items())
