"""Do the examples for a Ray cluster fit what they are for? They ran on none: here they are read.

KubeRay's published schema (of release 1.7.0, without its prose) has Kubernetes' own of a pod and of
rules for networks in it. What a schema does not name is refused here, as `kubectl` does.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml
from cluster.ray_host.kind import RayKind
from control_plane.configuration import environment

from tests.ray_cluster import WHY_NOT

ROOT: Final = Path(__file__).parents[3]
EXAMPLES: Final = ROOT / "examples" / "ray"
SCHEMA: Final = Path(__file__).parent / "published" / "raycluster-v1-kuberay-1.7.0.json.gz"
_PATIENCE: Final = "RAY_gcs_rpc_server_reconnect_timeout_s"
CONTAINER_OF_RAY: Final = ("ray-head", "ray-worker", "raylet")


def strict(schema: Any) -> Any:
    """Refuse fields that it does not name."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(part) for name, part in schema.items()}
    if "properties" in made and "x-kubernetes-preserve-unknown-fields" not in made:
        made.setdefault("additionalProperties", False)
    return made


@pytest.fixture(scope="module")
def published() -> Any:
    return strict(json.loads(gzip.decompress(SCHEMA.read_bytes())))


def part(schema: Any, *path: str) -> Any:
    for name in path:
        schema = schema["items"] if name == "[]" else schema["properties"][name]
    return schema


@pytest.fixture(scope="module")
def ray_cluster_example() -> Any:
    return yaml.safe_load((EXAMPLES / "kuberay" / "raycluster.yaml").read_text())


@pytest.fixture(scope="module")
def service_examples() -> list[Any]:
    document = yaml.safe_load((EXAMPLES / "kuberay" / "concertina.yaml").read_text())
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    items: list[Any] = document["items"]
    return items


def of_kind(items: list[Any], kind: str) -> list[Any]:
    return [item for item in items if item["kind"] == kind]


def containers(items: list[Any], cluster: Any) -> Iterator[Any]:
    groups = [cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"]]
    for item in (*of_kind(items, "Deployment"), *({"spec": group} for group in groups)):
        pod = item["spec"]["template"]["spec"]
        yield from (*pod["containers"], *pod.get("initContainers", ()))


def test_the_cluster_is_as_kuberays_schema_says(published: Any, ray_cluster_example: Any) -> None:
    document = {**ray_cluster_example, "metadata": {}}
    jsonschema.validate(document, published)


def test_the_lines_for_pools_that_ask_for_machines_are_as_the_schema_says(
    published: Any, ray_cluster_example: Any
) -> None:
    text = (EXAMPLES / "kuberay" / "raycluster.yaml").read_text()
    found = re.findall(r"^  # ((?:enableInTree|autoscaler)\w+: .+)$", text, re.MULTILINE)
    more = yaml.safe_load("\n".join(found))
    assert more.keys() == {"enableInTreeAutoscaling", "autoscalerOptions"}
    spec = {**ray_cluster_example["spec"], **more}
    jsonschema.validate({**ray_cluster_example, "metadata": {}, "spec": spec}, published)


def test_the_schema_here_refuses_what_it_does_not_name(
    published: Any, ray_cluster_example: Any
) -> None:
    spec = {**ray_cluster_example["spec"], "authOption": {}}
    with pytest.raises(jsonschema.ValidationError, match="authOption"):
        jsonschema.validate({**ray_cluster_example, "metadata": {}, "spec": spec}, published)


def test_pods_of_the_service_are_as_kubernetes_schema_says(
    published: Any, service_examples: list[Any]
) -> None:
    pod = part(published, "spec", "headGroupSpec", "template", "spec")
    found = of_kind(service_examples, "Deployment")
    assert len(found) == 4
    for deployment in found:
        template = deployment["spec"]["template"]
        jsonschema.validate(template["spec"], pod)
        labels = template["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"] == labels


def test_rules_for_networks_are_as_kubernetes_schema_says(
    published: Any, service_examples: list[Any]
) -> None:
    rules = part(published, "spec", "networkPolicy", "head", "ingressRules")
    found = of_kind(service_examples, "NetworkPolicy")
    assert len(found) == 2
    pods = [
        one["spec"]["selector"]["matchLabels"] for one in of_kind(service_examples, "Deployment")
    ]
    for policy in found:
        jsonschema.validate(policy["spec"]["ingress"], rules)
        assert policy["spec"]["podSelector"]["matchLabels"] in pods


def test_what_pods_name_is_there(service_examples: list[Any], ray_cluster_example: Any) -> None:
    claims = {one["metadata"]["name"] for one in of_kind(service_examples, "PersistentVolumeClaim")}
    groups = [ray_cluster_example["spec"]["headGroupSpec"]]
    groups += ray_cluster_example["spec"]["workerGroupSpecs"]
    pods = [group["template"]["spec"] for group in groups]
    pods += [one["spec"]["template"]["spec"] for one in of_kind(service_examples, "Deployment")]
    for pod in pods:
        volumes = {one["name"]: one for one in pod["volumes"]}
        mounted = {
            mount["name"]
            for one in (*pod["containers"], *pod.get("initContainers", ()))
            for mount in one["volumeMounts"]
        }
        assert mounted == set(volumes)
        for volume in volumes.values():
            claim = volume.get("persistentVolumeClaim")
            assert claim is None or claim["claimName"] in claims
        assert pod["automountServiceAccountToken"] is False
    services = {one["metadata"]["name"] for one in of_kind(service_examples, "Service")}
    store = ray_cluster_example["spec"]["gcsFaultToleranceOptions"]["redisAddress"]
    assert re.fullmatch(r"redis://([a-z-]+):6379", store)[1] in services  # type: ignore[index]


def test_the_services_settings_are_settings(service_examples: list[Any], tmp_path: Path) -> None:
    (config,) = of_kind(service_examples, "ConfigMap")
    given = dict(config["data"])
    documented = (ROOT / "docs" / "operations" / "configuration.md").read_text()
    assert [name for name in given if f"`{name}`" not in documented] == []
    token = tmp_path / "token"
    token.write_text("0123456789abcdef")
    here = {"CONCERTINA_RAY_TOKEN_FILE": str(token), "CONCERTINA_STATE": str(tmp_path)}
    secrets = {
        "DATABASE_URL": "postgresql://x@db/x",
        "REDIS_URL": "redis://redis:6379/0",
        "CONCERTINA_SECRET_KEY": "for-tests-only-" + "a" * 40,
    }
    kind = environment.read({**given, **here, **secrets}).worker_host
    assert isinstance(kind, RayKind)
    assert kind.address == "concertina-head-svc:6379"  # as KubeRay calls a cluster's head


def test_control_sees_the_raylet_beside_it(service_examples: list[Any]) -> None:
    """Ray finds it in the list of processes, and its sockets and memory in two folders."""
    pods = [one["spec"]["template"]["spec"] for one in of_kind(service_examples, "Deployment")]
    (pod,) = [pod for pod in pods if any(one["name"] == "raylet" for one in pod["containers"])]
    assert pod["shareProcessNamespace"] is True
    for container in pod["containers"]:
        mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert mounted >= {"/tmp/ray", "/dev/shm"}  # noqa: S108 - where Ray has them


def test_ray_is_patient_with_its_head_everywhere(
    service_examples: list[Any], ray_cluster_example: Any
) -> None:
    found = [
        one
        for one in containers(service_examples, ray_cluster_example)
        if one["name"] in CONTAINER_OF_RAY
    ]
    assert sorted(one["name"] for one in found) == sorted(CONTAINER_OF_RAY)
    for one in found:
        assert {"name": _PATIENCE, "value": "600"} in one["env"]
    for file in (
        *sorted(EXAMPLES.glob("machines/*.service")),
        EXAMPLES / "slurm/concertina.sbatch",
    ):
        assert f"{_PATIENCE}=600" in file.read_text(), file


def test_the_cluster_and_the_service_have_one_release_of_ray(ray_cluster_example: Any) -> None:
    lock = (ROOT / "requirements-ray.lock").read_text()
    (locked,) = re.findall(r"^ray==(\S+)", lock, re.MULTILINE)
    assert ray_cluster_example["spec"]["rayVersion"] == locked
    assert f"ray=={locked}" in (EXAMPLES / "kuberay" / "Dockerfile").read_text()


def commands_of_ray() -> Iterator[tuple[str, list[str]]]:
    """Each `ray start` and `ray drain-node` of the examples, and its options."""
    for unit in EXAMPLES.glob("machines/*.service"):
        (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
        _, verb, *options = shlex.split(line)
        yield verb, options
    batch = (EXAMPLES / "slurm" / "concertina.sbatch").read_text().replace("\\\n", " ")
    for verb, options in re.findall(r"ray\.scripts\.scripts (start|drain-node) (.*)", batch):
        yield verb, re.findall(r"--[a-z-]+(?:=\"[^\"]*\"|=\S+)?", options)
    items = yaml.safe_load((EXAMPLES / "kuberay" / "concertina.yaml").read_text())["items"]
    for deployment in of_kind(items, "Deployment"):
        for one in deployment["spec"]["template"]["spec"]["containers"]:
            if one["command"][0] == "ray":
                yield one["command"][1], one["command"][2:]


def test_ray_knows_all_options_that_it_is_given() -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip(WHY_NOT)
    from ray.scripts import scripts  # noqa: PLC0415 - where it is installed

    found = list(commands_of_ray())
    assert sorted(verb for verb, _ in found) == ["drain-node", *["start"] * 5]
    for verb, options in found:
        command = scripts.cli.commands[verb]
        known = {name for parameter in command.params for name in parameter.opts}
        given = {option.partition("=")[0] for option in options}
        assert given <= known


def test_the_batch_script_can_be_read_by_its_shell() -> None:
    file = EXAMPLES / "slurm" / "concertina.sbatch"
    assert subprocess.run(("bash", "-n", str(file)), check=False).returncode == 0
