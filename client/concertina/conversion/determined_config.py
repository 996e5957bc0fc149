"""The configuration of an experiment of Determined, as a job spec."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from concertina.conversion.converted import Converted
from concertina.conversion.determined_search import put_search
from concertina.conversion.documents import listed, mapping
from concertina.conversion.launchers import worker_command, worker_script
from concertina.errors import BadInput

_HIGHEST_PRIORITY: Final = 99  # of Determined, where 1 is the most important
_READ: Final = frozenset(
    {"name", "entrypoint", "resources", "environment", "hyperparameters", "searcher", "labels"}
    | {"max_restarts", "reproducibility", "checkpoint_storage", "project"}
    | {"description"}
)
_REASONS: Final[Mapping[str, str]] = {
    "checkpoint_policy": "`checkpoint.keep_last` and `keep_best` say what is kept.",
    "workspace": "Set `team`, if you are in several.",
    "bind_mounts": "Name data in `data`: `concertina data ls` lists what your team has.",
    "data": "Name data in `data`: `concertina data ls` lists what your team has.",
    "min_checkpoint_period": "Set `checkpoint.interval`, as a time; a script that registers asks"
    " when one is due.",
    "min_validation_period": "The script decides when it validates.",
    "records_per_epoch": "The script tells its epochs.",
    "scheduling_unit": "The script tells its steps.",
    "perform_initial_validation": "The script decides when it validates.",
    "optimizations": "The script decides how gradients travel.",
    "profiling": "`concertina metrics` shows how GPUs were used.",
    "debug": "`concertina logs` shows what the script writes.",
    "slurm": "The platform starts the workers.",
    "pbs": "The platform starts the workers.",
    "log_policies": "A job that fails because of its own code is not tried again for ever.",
    "integrations": "There is nothing like it here.",
    "preemption_timeout": "Set `elastic.grace_period`.",
}


def convert(document: Mapping[str, Any]) -> Converted:
    """Convert a configuration.

    Raises:
        BadInput: it has no entrypoint.
    """
    found = Converted()
    found.put_name(str(document.get("name") or "converted"))
    found.put("command", _command(document.get("entrypoint"), found))
    found.put("code", {"path": "."})
    _put_resources(mapping(document, "resources"), found)
    env = _environment(mapping(document, "environment"), found)
    hyperparameters = put_search(document, found)
    if hyperparameters:
        name = next(iter(hyperparameters))
        found.changed(
            "hyperparameters",
            f"They are variables of the environment, such as {name}; nothing here gives them to the"
            " script in another way.",
        )
    found.put_environment({**env, **hyperparameters})
    found.changed(
        "determined.core",
        "The script reports to Concertina instead: see docs/elastic-script. Until then it runs in"
        " mode `restart`, and goes on from its own checkpoint in $CONCERTINA_CHECKPOINT_DIR.",
    )
    found.put("elastic.mode", "restart")
    _put_batch(mapping(document, "hyperparameters"), found)
    if isinstance(document.get("max_restarts"), int):
        found.put("retry.max_restarts", min(max(document["max_restarts"], 0), _MOST_RESTARTS))
    seed = mapping(document, "reproducibility").get("experiment_seed")
    if isinstance(seed, int):
        found.put("seed", seed % 2**31)
    _put_kept(mapping(document, "checkpoint_storage"), found)
    _put_labels(document, found)
    for name in document:
        if name not in _READ:
            found.left_out(str(name), _REASONS.get(name, "There is nothing like it here."))
    return found


_MOST_RESTARTS: Final = 1000


def _command(entrypoint: Any, found: Converted) -> list[str]:
    if isinstance(entrypoint, str) and entrypoint.strip():
        try:
            words = shlex.split(entrypoint)
        except ValueError as error:
            raise BadInput(f"The entrypoint is no command: {error}.") from error
        if any(sign in entrypoint.strip() for sign in ("&&", "|", ";", "$", ">", "\n")):
            return ["bash", "-c", worker_script(entrypoint, found)]
        if ":" in words[0] and len(words) == 1:
            why = "It names a class of a trial; here a script trains: name its command."
            found.left_out(f"entrypoint {entrypoint}", why)
            return ["python", "train.py"]
        return _of_script(words, found)
    if isinstance(entrypoint, Sequence) and not isinstance(entrypoint, str) and entrypoint:
        return _of_script([str(word) for word in entrypoint], found)
    raise BadInput("The configuration has no entrypoint.")


def _of_script(words: list[str], found: Converted) -> list[str]:
    launcher = next((word for word in words if word.startswith("determined.")), None)
    if launcher is not None and "--trial" in words:
        why = "It trains the class of a trial; here a script trains: name its command."
        found.left_out(f"entrypoint {' '.join(words)}", why)
        return ["python", "train.py"]
    command = worker_command(words, found)
    if launcher in command:
        why = "There is no such launcher here: name what each worker runs."
        found.changed(f"entrypoint {' '.join(words)}", why)
    return command


def _put_resources(resources: Mapping[str, Any], found: Converted) -> None:
    slots = resources.get("slots_per_trial", 1)
    found.put_workers(slots if isinstance(slots, int) else 1, f"slots_per_trial: {slots}")
    priority = resources.get("priority")
    if isinstance(priority, int) and 0 < priority <= _HIGHEST_PRIORITY:
        found.put("priority", _HIGHEST_PRIORITY + 1 - priority)
        found.changed(f"priority: {priority}", "A higher number wins here, within the team.")
    for name, why in (
        ("resource_pool", "A pool is a kind of GPUs: set `pool` to one of `concertina pools`."),
        ("weight", "Teams have quotas here, and jobs a `priority` within their team."),
        ("max_slots", "Set `array.max_running`, or a limit of the team."),
        ("shm_size", "Set `resources.shm_size`, which is of one worker."),
        ("devices", "Jobs get GPUs, and no other devices."),
    ):
        if resources.get(name) is not None:
            found.left_out(f"resources.{name}", why)
    known = (
        "slots_per_trial",
        "priority",
        "resource_pool",
        "weight",
        "max_slots",
        "shm_size",
        "devices",
    )
    _tell_of_others("resources", resources, known, found)


def _tell_of_others(
    of: str, fields: Mapping[str, Any], known: Collection[str], found: Converted
) -> None:
    for name, value in fields.items():
        if name not in known and value not in (None, "", [], {}):
            found.left_out(f"{of}.{name}", "There is nothing like it here.")


def _environment(environment: Mapping[str, Any], found: Converted) -> dict[str, str]:
    image = environment.get("image")
    if isinstance(image, Mapping):
        image = image.get("cuda") or image.get("gpu")
    if image:
        found.put("image", str(image))
        found.changed(
            "image", "It has to contain the worker runtime: see docs/jobs/worker-image.md."
        )
    given = listed(environment, "environment_variables")
    if of_kinds := mapping(environment, "environment_variables"):
        given = listed(of_kinds, "cuda") or listed(of_kinds, "gpu")
    pairs = [str(one).partition("=") for one in given if "=" in str(one)]
    for name, why in (
        ("registry_auth", "A secret of your team of the kind `registry` does that."),
        ("pod_spec", "Jobs do not speak with Kubernetes."),
        ("ports", "Workers reach each other; nobody else reaches them."),
        ("force_pull_image", "An image is fetched when its tag leads to another one."),
    ):
        if environment.get(name):
            found.left_out(f"environment.{name}", why)
    known = ("image", "environment_variables", "registry_auth", "pod_spec", "ports")
    _tell_of_others("environment", environment, {*known, "force_pull_image"}, found)
    return {name: value for name, _, value in pairs}


def _put_batch(hyperparameters: Mapping[str, Any], found: Converted) -> None:
    batch = hyperparameters.get("global_batch_size")
    if isinstance(batch, Mapping):
        batch = batch.get("val")
    if isinstance(batch, int) and not isinstance(batch, bool) and batch > 0:
        found.put("batch.global_batch_size", batch)


def _put_kept(storage: Mapping[str, Any], found: Converted) -> None:
    if not storage:
        return
    latest, best = storage.get("save_trial_latest"), storage.get("save_trial_best")
    if isinstance(latest, int) and latest > 0:
        found.put("checkpoint.keep_last", latest)
    if isinstance(best, int) and best > 0 and "keep_best" in found.spec.get("checkpoint", {}):
        found.put("checkpoint.keep_best.n", min(best, 100))
    if isinstance(storage.get("save_experiment_best"), int) and storage["save_experiment_best"]:
        why = "Each job keeps its own: `concertina experiments` compares them."
        found.left_out("checkpoint_storage.save_experiment_best", why)
    if "type" in storage:
        found.left_out("checkpoint_storage.type", "The platform keeps checkpoints where it is set.")


def _put_labels(document: Mapping[str, Any], found: Converted) -> None:
    labels = {str(label): "yes" for label in listed(document, "labels")}
    for name in ("project", "description"):
        if document.get(name):
            labels[name] = str(document[name])
    found.put_labels(labels)
