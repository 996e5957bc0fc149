"""What does a Docker host remove that looks as if nobody had finished it? Only what is certain."""

from __future__ import annotations

from pathlib import Path

import pytest
from cluster.docker_host.container import containers
from cluster.docker_host.record.records import Records
from cluster.worker_host import HostUnavailable

from tests.contract.conftest import docker_host, labels


def test_who_knows_no_daemon_removes_nothing(tmp_path: Path) -> None:
    """A container may run, of which only a daemon could tell."""
    host = docker_host({}, tmp_path)
    record = Records(state_dir=tmp_path).of("w1")
    record.folder.mkdir(parents=True)
    record.begin(labels("w1"), "n1")
    scratch = containers.scratch_folder("job1", "w1", state_dir=tmp_path)
    scratch.mkdir(parents=True)
    assert host.list().processes == ()
    with pytest.raises(HostUnavailable):
        host.forget("w1")
    assert (record.folder.exists(), scratch.exists()) == (True, True)
