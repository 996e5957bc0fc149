"""A batch script for Slurm's `sbatch`, as a job spec."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from concertina.conversion import quantities
from concertina.conversion.converted import Converted
from concertina.conversion.documents import whole
from concertina.conversion.launchers import worker_script
from concertina.conversion.slurm import headers
from concertina.errors import BadInput

_KEPT_BY_US: Final = "`concertina logs` keeps what each worker writes."
_BY_NODE: Final = "The platform chooses the nodes."
_REASONS: Final[Mapping[str, str]] = {
    "partition": "A pool is a kind of GPUs: set `pool` to one of `concertina pools`.",
    "clusters": "A pool is a kind of GPUs: set `pool` to one of `concertina pools`.",
    "account": "Set `team` to yours, if you are in several; `labels` are for your own accounting.",
    "qos": "Teams have quotas here, and jobs a `priority` within their team.",
    "nice": "Set `priority`, 0 to 100; higher wins.",
    "priority": "Set `priority`, 0 to 100; higher wins.",
    "output": _KEPT_BY_US,
    "error": _KEPT_BY_US,
    "dependency": "Ids of Slurm mean nothing here: name jobs in `depends_on`.",
    "begin": "A job starts as soon as it may.",
    "hold": "A job starts as soon as it may; `concertina pause` holds it.",
    "mail-user": "Name webhooks in `notify.to`, which may be mail addresses.",
    "mail-type": "Name occasions in `notify.on`.",
    "signal": "Workers get SIGTERM, and `elastic.grace_period` to save.",
    "constraint": _BY_NODE,
    "nodelist": _BY_NODE,
    "exclude": _BY_NODE,
    "exclusive": "GPUs are never shared; other GPUs of a node may be.",
    "deadline": "Set `deadline` to a moment with its time zone.",
}
_READ: Final = frozenset(
    {"job-name", "nodes", "ntasks", "ntasks-per-node", "gres", "gpus", "gpus-per-node"}
    | {"gpus-per-task", "cpus-per-task", "mem", "mem-per-gpu", "mem-per-cpu", "time", "chdir"}
    | {"array", "export", "cpus-per-gpu", "requeue", "no-requeue", "comment"}
)
_COUNT: Final = re.compile(
    r"(?:gpu:)?(?:[A-Za-z0-9_.-]+:)?(\d{1,9})|gpu(?::[A-Za-z][A-Za-z0-9_.-]*)?"
)
_RANGE: Final = re.compile(r"(\d{1,9})-(\d{1,9})(?::(\d{1,9}))?", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,9}", re.ASCII)
_MOST_TASKS: Final = 1000  # of an array here


def convert(text: str) -> Converted:
    """Convert a script.

    Raises:
        BadInput: it has no command.
    """
    script = headers.read(text)
    if not script.body.strip():
        raise BadInput("The batch script has no command behind its #SBATCH lines.")
    found, options = Converted(), script.options
    found.put_name(options.get("job-name", "") or "converted")
    if script.is_heterogeneous:
        why = "Workers are all alike here: this is the first part. Submit a job for each other one."
        found.left_out("hetjob", why)
    body = _put_command(script, found)
    if "chdir" in options:
        found.put("workdir", options["chdir"])
    else:
        found.put("code", {"path": "."})
    shape = _shape_of(options)
    found.put_workers(shape.workers, _named(options, _ASKS_FOR_GPUS))
    found.put("elastic.mode", "restart")
    found.changed(
        "the script",
        "It runs in mode `restart`: it gets SIGTERM when its workers change, and should go on from"
        " its own checkpoint in $CONCERTINA_CHECKPOINT_DIR. Register it, to train on meanwhile.",
    )
    _put_resources(options, shape, found)
    _put_time(options, found)
    _put_environment(options, found)
    _put_array(options, body, found)
    if "no-requeue" in options:
        found.put("retry.max_restarts", 0)
    if options.get("comment"):
        found.put_labels({"comment": options["comment"]})
    for name, value in options.items():
        if name not in _READ:
            why = _REASONS.get(name, "There is nothing like it here.")
            found.left_out(f"--{name}={value}" if value else f"--{name}", why)
    return found


def _put_command(script: headers.BatchScript, found: Converted) -> str:
    program, *flags = script.interpreter
    is_set = ("SLURM_ARRAY_TASK_ID",) if "array" in script.options else ()
    if program.startswith("python"):
        found.put("command", [program, *flags, "-c", script.body.strip() + "\n"])
        return script.body
    if program not in _SHELLS:
        found.changed(f"#!{program}", "It is run by bash here: say in `command` what runs it.")
        program, flags = "bash", []
    body = worker_script(script.body, found, is_set=is_set)
    found.put("command", [program, *flags, "-c", body])
    return body


_SHELLS: Final = ("bash", "sh", "zsh", "dash", "ksh")
_ASKS_FOR_GPUS: Final = ("gpus", "gpus-per-task", "gpus-per-node", "gres", "nodes", "ntasks")


@dataclass(frozen=True, slots=True)
class _Shape:
    """How a script divides what it asks for."""

    nodes: int
    tasks: int
    gpus: int  # all in all

    @property
    def workers(self) -> int:
        """One for each GPU; where there are none, one for each task."""
        return max(self.gpus or self.tasks, 1)

    @property
    def workers_of_node(self) -> float:
        return max(self.workers / self.nodes, 1)


def _shape_of(options: Mapping[str, str]) -> _Shape:
    nodes = max(whole(options.get("nodes", "").split("-")[-1]), 1)
    tasks = whole(options.get("ntasks", ""))
    tasks = tasks or nodes * max(whole(options.get("ntasks-per-node", "")), 1)
    gpus = (
        _gpus(options.get("gpus", ""))
        or tasks * _gpus(options.get("gpus-per-task", ""))
        or nodes * _gpus(options.get("gpus-per-node", ""))
        or nodes * _gpus(_of_gpus(options.get("gres", "")))
    )
    return _Shape(nodes=nodes, tasks=tasks, gpus=gpus)


def _put_resources(options: Mapping[str, str], shape: _Shape, found: Converted) -> None:
    if shape.gpus == 0:
        found.changed("no GPUs", "Each worker has a GPU here, or a slot where a node has none.")
    workers = shape.workers
    cpus_of_task = whole(options.get("cpus-per-task", ""))
    cpus = max(cpus_of_task * shape.tasks / workers, 1) if cpus_of_task else None
    if of_gpu := whole(options.get("cpus-per-gpu", "")):
        cpus = of_gpu
    if cpus is not None:
        found.put("resources.cpus", quantities.cores(cpus))
    shares: list[tuple[str, Callable[[int], float]]] = [
        ("mem-per-gpu", lambda size: size),
        ("mem-per-cpu", lambda size: size * (cpus or 1)),
        ("mem", lambda size: size / shape.workers_of_node),
    ]
    for name, share in shares:
        if name not in options:
            continue
        asked = quantities.slurm_bytes(options[name])
        if not asked:  # 0 is a node's whole memory
            why = "A worker has a share of its node's memory, as large as that of its GPUs."
            found.left_out(f"--{name}={options[name]}", why)
        else:
            found.put("resources.memory", quantities.size(share(asked)))
            if name == "mem":
                found.changed(f"--mem={options[name]}", "It is divided among the node's workers.")
        return


def _put_time(options: Mapping[str, str], found: Converted) -> None:
    if "time" not in options:
        return
    seconds = quantities.slurm_seconds(options["time"])
    if not seconds:
        found.left_out(f"--time={options['time']}", "It is no limit; set `max_duration` for one.")
        return
    found.put("max_duration", quantities.duration(max(seconds, 60)))
    found.changed(
        f"--time={options['time']}",
        "It counts while the job holds GPUs. With fewer workers it needs longer.",
    )


def _put_environment(options: Mapping[str, str], found: Converted) -> None:
    if "export" not in options:
        return
    words = options["export"].split(",")
    given = [word.partition("=") for word in words if "=" in word]
    if given:
        found.put_environment({name: value for name, _, value in given})
    if kept := [word for word in words if "=" not in word and word != "NONE"]:
        why = "Nothing of the environment of whoever submits comes along: name it in `env`."
        found.left_out(f"--export={','.join(kept)}", why)


def _put_array(options: Mapping[str, str], body: str, found: Converted) -> None:
    if "array" not in options:
        return
    tasks, _, at_once = options["array"].partition("%")
    numbers = _tasks(tasks)
    if not numbers or len(numbers) > _MOST_TASKS:
        why = f"An array has 1 to {_MOST_TASKS} jobs: list them in `array.parameters`."
        found.left_out(f"--array={options['array']}", why)
        return
    is_range = len(numbers) > 1 and numbers == [*range(numbers[0], numbers[-1] + 1)]
    values = f"{numbers[0]}..{numbers[-1]}" if is_range else numbers
    found.put("array.parameters", {"task": values})
    if whole(at_once):
        found.put("array.max_running", whole(at_once))
    found.spec["env"] = {**found.spec.get("env", {}), "SLURM_ARRAY_TASK_ID": "{{task}}"}
    if "{{" in body:
        found.changed("{{…}} in the script", "In an array, braces stand for values of parameters.")


def _tasks(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        if (span := _RANGE.fullmatch(part)) is not None:
            first, last, step = int(span[1]), int(span[2]), int(span[3] or 1)
            if step < 1 or (last - first) // step > _MOST_TASKS:
                return []
            numbers += range(first, last + 1, step)
        elif number := _NUMBER.fullmatch(part):
            numbers.append(int(number[0]))
        else:
            return []
        if len(numbers) > 2 * _MOST_TASKS:
            return []
    return [*dict.fromkeys(numbers)]


def _of_gpus(resources: str) -> str:
    """Return what of several generic resources, `gpu:a100:4,shm:1`, are GPUs."""
    parts = re.sub(r"\([^)]*\)", "", resources).split(",")  # without (S:0-1), which sockets
    return ",".join(part for part in parts if part.removeprefix("gres/").split(":")[0] == "gpu")


def _gpus(text: str) -> int:
    """Return how many GPUs `4`, `gpu:4`, `a100:4` or `gpu:a100` are."""
    for part in text.split(","):
        if (found := _COUNT.fullmatch(part)) is not None:
            return int(found[1]) if found[1] else 1
    return 0


def _named(options: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Return how those of some options are written that are there."""
    return " ".join(f"--{name}={options[name]}" for name in names if name in options) or "workers"
