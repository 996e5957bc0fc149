"""Which GPUs a machine has, who may use them, and what is installed for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from local_stack import checkout, gpus
from local_stack.commands import doctor
from local_stack.commands.trouble import TROUBLE
from local_stack.gpus import Gpu, Supply
from local_stack.set_up.dependencies import (
    has_cuda,
    install_torch,
    is_for_cpu,
    is_for_gpus,
    ways_to_torch,
)
from local_stack.set_up.installer import Installer
from local_stack.set_up.virtual_environment import VirtualEnvironment

LISTING = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f)
  MIG 3g.20gb     Device  0: (UUID: MIG-9a9a0001-5aa6-5a1b-8d2f-0a5f1c2d3e4f)
  MIG 3g.20gb     Device  1: (UUID: MIG-9a9a0002-5aa6-5a1b-8d2f-0a5f1c2d3e4f)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-6d0a0000-d268-c3f3-1b07-005d5ae1dc3f)
"""
WHOLE = Gpu(index=1, name="NVIDIA A100-SXM4-40GB", uuid="GPU-6d0a0000-d268-c3f3-1b07-005d5ae1dc3f")


def some(count: int, name: str = "NVIDIA L4") -> list[Gpu]:
    return [Gpu(index=i, name=name, uuid=f"GPU-{name[-2:]}{i}") for i in range(count)]


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A driver's program that tells what is in the file it stands beside."""
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nexec /bin/cat {tmp_path}/listing\n")
    program.chmod(0o755)
    (tmp_path / "listing").write_text(LISTING)
    monkeypatch.setenv("PATH", str(tmp_path))
    return program


def test_of_a_divided_gpu_its_parts_count() -> None:
    first, second, whole = gpus.parse(LISTING)
    assert (first.uuid[:12], second.uuid[:12]) == ("MIG-9a9a0001", "MIG-9a9a0002")
    assert first.kind == "nvidia-a100-sxm4-40gb-3g-20gb"
    assert whole == WHOLE


def test_the_driver_is_asked(nvidia_smi: Path) -> None:
    assert len(gpus.find({})) == 3


def test_gpus_that_were_hidden_from_us_are_not_given_to_jobs(nvidia_smi: Path) -> None:
    assert gpus.find({"CUDA_VISIBLE_DEVICES": "1"}) == (WHOLE,)
    assert gpus.find({"CUDA_VISIBLE_DEVICES": "GPU-6d0a"}) == (WHOLE,)
    assert gpus.find({"CUDA_VISIBLE_DEVICES": ""}) == ()


def test_a_machine_without_the_drivers_program_has_no_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpus.find({}) == ()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n", "NVIDIA-SMI has failed"),
        ("#!/bin/sh\nexit 3\n", "exit 3"),
        ("no program", "does not answer"),
    ],
)
def test_a_driver_that_does_not_answer_is_not_taken_for_none(
    nvidia_smi: Path, program: str, said: str
) -> None:
    nvidia_smi.write_text(program)
    with pytest.raises(gpus.DriverDoesNotAnswer, match=said):
        gpus.find({})
    assert gpus.find({"CUDA_VISIBLE_DEVICES": ""}) == ()  # whoever wants none need not know


def test_a_driver_that_hangs_is_not_waited_for_for_ever(
    nvidia_smi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "PATIENCE_SECONDS", 0.2)
    nvidia_smi.write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    with pytest.raises(gpus.DriverDoesNotAnswer, match="timed out"):
        gpus.find({})


def test_a_driver_that_does_not_answer_stops_the_stack_and_the_doctor_says_why(
    nvidia_smi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    nvidia_smi.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'; exit 9\n")
    finding = doctor.check_gpus(checkout.find(tmp_path))
    assert finding.level is doctor.Level.FAIL
    assert "NVIDIA-SMI has failed" in finding.text
    assert gpus.DriverDoesNotAnswer in TROUBLE


def test_without_gpus_slots_stand_for_them() -> None:
    assert gpus.supply(()) == Supply(kind="slot", slots=4, uuids=())
    assert gpus.supply((), slots=2).slots == 2


def test_there_is_a_slot_for_each_gpu() -> None:
    assert gpus.supply(some(2)) == Supply(kind="nvidia-l4", slots=2, uuids=("GPU-L40", "GPU-L41"))
    assert gpus.supply(some(3), slots=1).uuids == ("GPU-L40",)


def test_more_slots_than_gpus_share_them_evenly() -> None:
    assert gpus.supply(some(2), slots=5).uuids == (
        *("GPU-L40", "GPU-L41"),
        *("GPU-L40", "GPU-L41"),
        "GPU-L40",
    )


def test_a_pool_has_gpus_of_one_kind_the_commonest() -> None:
    mixed = [*some(1, "NVIDIA T4"), *some(2)]
    assert gpus.supply(mixed) == gpus.supply(some(2))


@pytest.mark.parametrize(("count", "slots"), [(0, 4), (1, 4), (2, 4), (3, 6), (4, 4), (8, 8)])
def test_a_demo_has_room_to_grow_on_any_machine(count: int, slots: int) -> None:
    assert gpus.slots_of_a_demo(some(count)) == slots


def test_with_gpus_pytorch_is_installed_for_the_drivers_cuda() -> None:
    first, *others = ways_to_torch(has_gpus=True, is_uv=True)
    assert first[1:3] == ("--torch-backend", "auto")
    assert all("cpu" not in way for way in others)


def test_without_gpus_the_small_build_of_pytorch_is_preferred() -> None:
    here, small, _ = ways_to_torch(has_gpus=False, is_uv=True)
    assert "--no-index" in here
    assert small[1:3] == ("--torch-backend", "cpu")


def test_pip_is_never_asked_for_what_only_uv_knows() -> None:
    for has_gpus in (True, False):
        ways = ways_to_torch(has_gpus=has_gpus, is_uv=False)
        assert all("--torch-backend" not in way for way in ways)


def with_torch(folder: Path, version: str) -> VirtualEnvironment:
    installed = folder / "lib" / "python3.11" / "site-packages" / f"torch-{version}.dist-info"
    installed.mkdir(parents=True)
    return VirtualEnvironment(folder=folder)


@pytest.mark.parametrize(
    ("version", "is_small", "is_wanted"),
    [
        ("2.13.0+cpu", True, False),
        ("2.13.0", False, True),
        ("2.13.0+cu130", False, True),
        ("2.12.1", False, False),
    ],
)
def test_builds_of_pytorch_are_told_apart(
    tmp_path: Path, version: str, *, is_small: bool, is_wanted: bool
) -> None:
    venv = with_torch(tmp_path, version)
    assert (is_for_cpu(venv), has_cuda(venv)) == (is_small, is_wanted)


@pytest.mark.parametrize(
    ("there", "has_gpus", "expected"),
    [
        ("2.13.0", True, ""),
        ("2.13.0+cpu", True, "--torch-backend auto --reinstall-package torch torch==2.13.0"),
        ("2.12.1", True, "--torch-backend auto --reinstall-package torch torch==2.13.0"),
        ("2.13.0", False, "--no-index --no-deps torch==2.13.0"),
    ],
)
def test_with_gpus_pytorch_is_installed_only_where_the_right_one_is_not(
    tmp_path: Path, there: str, expected: str, *, has_gpus: bool
) -> None:
    says_what = Installer(program=("/bin/echo",), folder=tmp_path, logs=tmp_path, is_uv=True)
    install_torch(says_what, with_torch(tmp_path, there), has_gpus=has_gpus)
    log = tmp_path / "install.log"
    assert (log.read_text().strip() if log.exists() else "") == expected


@pytest.mark.parametrize("names", ["", "1"])
def test_an_environment_is_for_gpus_even_while_they_are_hidden(
    nvidia_smi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", names)
    assert is_for_gpus(VirtualEnvironment(folder=tmp_path))


@pytest.mark.parametrize(("there", "expected"), [("2.13.0", True), ("2.13.0+cpu", False)])
def test_while_the_driver_does_not_answer_an_environment_stays_what_it_is(
    nvidia_smi: Path, tmp_path: Path, there: str, *, expected: bool
) -> None:
    nvidia_smi.write_text("#!/bin/sh\nexit 9\n")
    assert is_for_gpus(with_torch(tmp_path, there)) is expected
