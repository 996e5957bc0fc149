"""What does a container see of data that is not the platform's, and what of links in it?"""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster.worker_host import Failing, Mount

from tests.contract.conftest import DockerBench, exited, texts


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder that everybody may read, with a file and a link out of it."""
    folder = tmp_path / "imagenet"
    folder.mkdir(mode=0o755)
    (folder / "a").write_text("a sample\n")
    (tmp_path / "secret").write_text("the node's\n")
    (folder / "out").symlink_to(tmp_path)
    return folder


def shown(data: Path, target: str, *, is_writable: bool = False) -> Mount:
    return Mount(source=data, target=target, is_writable=is_writable, is_ours=False)


def test_data_is_read_only_and_links_lead_nowhere_out_of_it(
    docker_bench: DockerBench, data: Path
) -> None:
    script = "cat /data/a /again/a; echo b > /data/b; cat /data/out/secret; true"
    mounts = (shown(data, "/data"), shown(data, "/again"))
    docker_bench.launch("w1", ("sh", "-c", f"{{ {script}; }} 2>&1"), mounts=mounts)
    exited(docker_bench.host, "w1")
    said = texts(docker_bench, "w1")
    assert said[:2] == ["a sample"] * 2
    assert any("Read-only file system" in line for line in said)
    assert any("No such file" in line for line in said)
    assert "the node's" not in said


def test_data_that_may_be_written_keeps_its_owner(docker_bench: DockerBench, data: Path) -> None:
    data.chmod(0o777)
    before = data.stat().st_uid
    script = "echo b > /data/b && cat /data/b"
    mounts = (shown(data, "/data", is_writable=True),)
    docker_bench.launch("w1", ("sh", "-c", script), mounts=mounts)
    assert exited(docker_bench.host, "w1").exit_code == 0
    assert (data / "b").read_text() == "b\n"
    assert data.stat().st_uid == before


def test_a_node_without_the_data_makes_no_folder_for_it(
    docker_bench: DockerBench, data: Path
) -> None:
    gone = data / "gone"
    docker_bench.launch("w1", ("true",), mounts=(shown(gone, "/data", is_writable=True),))
    process = exited(docker_bench.host, "w1")
    assert process.failing is Failing.CANNOT_START
    assert str(gone) in process.note
    assert not gone.exists()
