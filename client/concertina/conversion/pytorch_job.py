"""A PyTorchJob of Kubeflow's training operator, as a job spec."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from concertina.conversion import quantities
from concertina.conversion.converted import Converted
from concertina.conversion.documents import listed, mapping, whole
from concertina.conversion.launchers import worker_command, worker_script
from concertina.errors import BadInput

_GPU: Final = "nvidia.com/gpu"
_SHELL: Final = re.compile(r"(?:.*/)?(?:ba|da|z)?sh -[a-z]*c")
_OF_KUBERNETES: Final = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
_OF_POD: Final[Mapping[str, str]] = {
    "nodeSelector": "A pool is a kind of GPUs: set `pool` to one of `concertina pools`.",
    "affinity": "The platform chooses the nodes.",
    "tolerations": "The platform chooses the nodes.",
    "volumes": "Name data in `data`: `concertina data ls` lists what your team has.",
    "imagePullSecrets": "A secret of your team of the kind `registry` does that for all its jobs.",
    "initContainers": "Do it in the command, or in the image.",
    "serviceAccountName": "Jobs do not speak with Kubernetes.",
    "schedulerName": "The platform decides when its workers start.",
    "priorityClassName": "Set `priority`, 0 to 100; higher wins.",
}
_OF_RUN: Final[Mapping[str, str]] = {
    "ttlSecondsAfterFinished": "For how long jobs are kept is the team's to say.",
    "schedulingPolicy": "Teams have quotas here, and jobs a `priority` within their team.",
    "suspend": "`concertina pause` does that.",
}


def convert(document: Mapping[str, Any]) -> Converted:
    """Convert a document.

    Raises:
        BadInput: it has no replicas, or none of them a container.
    """
    found = Converted()
    metadata, spec = mapping(document, "metadata"), mapping(document, "spec")
    found.put_name(str(metadata.get("name") or metadata.get("generateName") or ""))
    if labels := mapping(metadata, "labels"):
        found.put_labels({str(name): str(value) for name, value in labels.items()})
    if "namespace" in metadata:
        found.left_out(f"namespace {metadata['namespace']}", "Set `team`, if you are in several.")
    replicas = mapping(spec, "pytorchReplicaSpecs")
    kind, pod = _pod_of(replicas)
    container = _container(pod)
    _put_command(container, found)
    _put_workers(spec, replicas, container, found)
    _put_environment(container, found)
    _put_run_policy(mapping(spec, "runPolicy"), replicas, found)
    if len(replicas) > 1:
        found.changed("replicas", f"All workers are alike; what the {kind} says holds for them.")
    for name, why in _OF_POD.items():
        if pod.get(name):
            found.left_out(name, why)
    _tell_of_others(document, kind, pod, container, found)
    return found


_NOTHING_LIKE_IT: Final = "There is nothing like it here."


def _tell_of_others(
    document: Mapping[str, Any],
    kind: str,
    pod: Mapping[str, Any],
    container: Mapping[str, Any],
    found: Converted,
) -> None:
    """Say of each field that nothing was made of that nothing was."""
    spec = mapping(document, "spec")
    template = mapping(mapping(mapping(spec, "pytorchReplicaSpecs"), kind), "template")
    known: Collection[str]
    for of, fields, known in (
        ("", document, ("apiVersion", "kind", "metadata", "spec", "status")),
        ("metadata.", mapping(document, "metadata"), _METADATA),
        ("spec.", spec, ("pytorchReplicaSpecs", "runPolicy", "elasticPolicy", "nprocPerNode")),
        ("runPolicy.", mapping(spec, "runPolicy"), {*_OF_RUN, *_RUN_POLICY}),
        ("elasticPolicy.", mapping(spec, "elasticPolicy"), ("minReplicas", "maxReplicas")),
        ("template.metadata.", mapping(template, "metadata"), ("creationTimestamp",)),
        ("", pod, {*_OF_POD, "containers", "restartPolicy"}),
        ("container.", container, _OF_CONTAINER),
    ):
        for name, value in fields.items():
            if name not in known and value not in (None, "", [], {}):
                found.left_out(f"{of}{name}", _NOTHING_LIKE_IT)
    for one in listed(pod, "containers"):
        if one is not container and isinstance(one, Mapping):
            why = "A worker is one container: let the command start what it needs beside it."
            found.left_out(f"container {one.get('name', '')}".strip(), why)


_METADATA: Final = frozenset(
    {"name", "generateName", "namespace", "labels", "creationTimestamp", "uid", "resourceVersion"}
    | {"generation", "managedFields", "selfLink"}
)
_RUN_POLICY: Final = ("activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy")
_OF_CONTAINER: Final = frozenset(
    {"name", "image", "command", "args", "env", "envFrom", "resources", "volumeMounts"}
    | {"workingDir", "imagePullPolicy"}
)


def _pod_of(replicas: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    for kind in ("Worker", "Master"):
        pod = mapping(mapping(mapping(replicas, kind), "template"), "spec")
        if pod:
            return kind, pod
    raise BadInput("The PyTorchJob has no Worker and no Master in spec.pytorchReplicaSpecs.")


def _container(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    containers = [one for one in listed(pod, "containers") if isinstance(one, Mapping)]
    if not containers:
        raise BadInput("The PyTorchJob has no container in its template.")
    return next((one for one in containers if one.get("name") == "pytorch"), containers[0])


def _put_command(container: Mapping[str, Any], found: Converted) -> None:
    env = _plain_variables(container)
    words = [
        _OF_KUBERNETES.sub(lambda name: env.get(name[1], name[0]), str(word))
        for name in ("command", "args")
        for word in listed(container, name)
    ]
    if not words:
        found.left_out("command", "What the image runs by itself is not known: name the command.")
        words = ["python", "train.py"]
    elif _SHELL.fullmatch(" ".join(words[:2])) and len(words) > 2:  # noqa: PLR2004 - sh -c SCRIPT
        words = [*words[:2], worker_script(words[2], found), *words[3:]]
    else:
        words = worker_command(words, found)
    found.put("command", words)
    if "image" in container:
        found.put("image", str(container["image"]))
        found.changed(
            "image", "It has to contain the worker runtime: see docs/jobs/worker-image.md."
        )
    if "workingDir" in container:
        found.put("workdir", str(container["workingDir"]))


def _put_workers(
    spec: Mapping[str, Any],
    replicas: Mapping[str, Any],
    container: Mapping[str, Any],
    found: Converted,
) -> None:
    limits = {**mapping(mapping(container, "resources"), "requests")}
    limits |= mapping(mapping(container, "resources"), "limits")
    gpus = max(whole(limits.get(_GPU)), 1)
    pods = sum(whole(mapping(replicas, kind).get("replicas", 1)) for kind in replicas)
    elastic = mapping(spec, "elasticPolicy")
    if not elastic:
        found.put_workers(pods * gpus, "replicas")
    else:
        least = max(whole(elastic.get("minReplicas", 1)), 1) * gpus
        most = max(whole(elastic.get("maxReplicas", pods)) * gpus, least)
        found.put("elastic.min_workers", least)
        found.put("elastic.max_workers", most)
        found.changed("elasticPolicy", f"It may have {least} to {most} workers with a GPU each.")
    found.put("elastic.mode", "restart")
    if "cpu" in limits and (cpus := quantities.kubernetes_cpus(str(limits["cpu"]))):
        found.put("resources.cpus", quantities.cores(cpus / gpus))
    if "memory" in limits and (asked := quantities.kubernetes_bytes(str(limits["memory"]))):
        found.put("resources.memory", quantities.size(asked / gpus))
    for name in limits:
        if name not in (_GPU, "cpu", "memory"):
            found.left_out(f"resources.{name}", "A worker has GPUs, processors and memory.")


def _put_environment(container: Mapping[str, Any], found: Converted) -> None:
    found.put_environment(_plain_variables(container))
    for one in listed(container, "env"):
        if isinstance(one, Mapping) and "name" in one and "value" not in one:
            why = "Name a secret of your team in `secrets`, or set it in `env`."
            found.left_out(f"env {one['name']}", why)
    for name, why in (
        ("envFrom", "Name secrets of your team in `secrets`."),
        ("volumeMounts", "Name data in `data`, which says where it is mounted."),
    ):
        if container.get(name):
            found.left_out(name, why)


def _plain_variables(container: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables whose values stand there; one may name those before it as $(NAME)."""
    env: dict[str, str] = {}
    for one in listed(container, "env"):
        if isinstance(one, Mapping) and "name" in one and "value" in one:
            value = str(one["value"])
            env[str(one["name"])] = _OF_KUBERNETES.sub(
                lambda name: env.get(name[1], name[0]), value
            )
    return env


def _put_run_policy(
    policy: Mapping[str, Any], replicas: Mapping[str, Any], found: Converted
) -> None:
    if seconds := whole(policy.get("activeDeadlineSeconds")):
        found.put("max_duration", quantities.duration(max(seconds, 60)))
        found.changed("activeDeadlineSeconds", "It counts while the job holds GPUs.")
    if "backoffLimit" in policy:
        found.put("retry.max_restarts", min(whole(policy["backoffLimit"]), 1000))
    elif any(mapping(replicas, kind).get("restartPolicy") == "Never" for kind in replicas):
        found.put("retry.max_restarts", 0)
    for name, why in _OF_RUN.items():
        if policy.get(name):
            found.left_out(name, why)
