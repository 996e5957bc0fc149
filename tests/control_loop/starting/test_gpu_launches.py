"""What is a worker told of the GPUs it was given, and of those it was not?"""

from __future__ import annotations

from typing import Any

from cluster.models import Node, Pool

from tests.control_loop.world import World


def of_second_worker(world: World, **resources: Any) -> dict[str, str]:
    """The environment of a job's second worker on the first node."""
    job = world.job(resources=resources)
    world.wish(job, {"n1": 2})
    world.tick()
    return dict(world.host.launch_of(f"{job.id}-1-2").env)


def with_gpus(*uuids: str) -> None:
    Pool.objects.update(gpu_type="nvidia-h100")
    Node.objects.update(gpu_uuids=list(uuids))


def test_a_worker_sees_only_the_gpus_it_was_given_in_the_order_nvml_counts(world: World) -> None:
    with_gpus()
    environment = of_second_worker(world, gpus_per_worker=2)
    assert environment["CUDA_VISIBLE_DEVICES"] == "2,3"
    assert environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert environment["CONCERTINA_GPU_TYPE"] == "nvidia-h100"


def test_gpus_are_called_by_their_uuid_where_it_is_known(world: World) -> None:
    with_gpus("GPU-aa", "MIG-bb", "GPU-cc", "GPU-dd")
    assert of_second_worker(world)["CUDA_VISIBLE_DEVICES"] == "MIG-bb"


def test_a_gpu_that_stands_for_several_is_shared(world: World) -> None:
    with_gpus("GPU-aa", "GPU-aa", "GPU-aa", "GPU-aa")
    assert of_second_worker(world)["CUDA_VISIBLE_DEVICES"] == "GPU-aa"


def test_a_gpu_is_named_once_to_a_worker_that_has_two_slots_of_it(world: World) -> None:
    with_gpus("GPU-aa", "GPU-aa", "GPU-bb", "GPU-bb")
    environment = of_second_worker(world, gpus_per_worker=2)
    assert environment["CUDA_VISIBLE_DEVICES"] == "GPU-bb"


def test_a_plain_script_finds_its_own_gpu_under_its_local_rank(world: World) -> None:
    with_gpus()
    environment = of_second_worker(world)
    assert environment["LOCAL_RANK"] == "0"
    assert environment["LOCAL_WORLD_SIZE"] == "1"
    assert environment["WORLD_SIZE"] == "2"


def test_a_worker_on_a_slot_sees_no_gpu_even_if_the_machine_has_one(world: World) -> None:
    environment = of_second_worker(world)
    assert environment["CUDA_VISIBLE_DEVICES"] == ""
    assert environment["CONCERTINA_GPU_TYPE"] == "slot"
