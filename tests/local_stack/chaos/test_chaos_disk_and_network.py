"""What is taken away around a stack: which packets, whose room, and what a killed run left."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from local_stack import checkout as checkouts
from local_stack.chaos import faults
from local_stack.chaos.disk_and_network import cuts, earlier_runs
from local_stack.chaos.faults import OF_THE_NETWORK, Component, Way
from local_stack.chaos.stacks import doubles
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.processes.child_process import ProcessSpec
from local_stack.stack.stack import Options

USERS = "1900000000-1900009999"

# Runs in namespaces of its own; says what it saw, line by line.
ON_A_DISK_OF_ITS_OWN = """
import os, subprocess, sys
from pathlib import Path
from local_stack.chaos.disk_and_network import cuts, disk, namespaces

folder = Path(sys.argv[1])
found = namespaces.enter(say=lambda text: None)
if not (found.has_mounts and found.has_network):
    sys.exit(77)
with disk.mounted(folder / "image", folder / "mounted") as own:
    full = disk.FullDisk(disk=own)
    full.begin(0)
    try:
        (own.folder / "more").write_bytes(bytes(2**16))
    except OSError as refused:
        print(os.strerror(refused.errno))
    full.end()
    (own.folder / "more").write_bytes(bytes(2**16))
    slow = disk.SlowDisk(own)
    slow.begin(600)
    late = subprocess.Popen(("touch", str(own.folder / "late")))
    slow.end()
    late.wait()
    print(sorted(path.name for path in own.folder.iterdir() if path.is_file()))
cut = cuts.reports(uids="1900000000-1900009999", service_ports=(80,), their_ports=(4000,))
cut.begin(0)
os.system("iptables -S | grep -c DROP")
cut.end()
os.system("iptables -S | grep -c DROP")
"""


def test_what_cannot_be_hit_is_not_dealt_and_what_can_comes_equally_often() -> None:
    left = [one for one in Component if one not in {*OF_THE_NETWORK, Component.DISK}]
    strikes = faults.choose(seed=1, faults=60, longest_seconds=30, components=left)
    hits = [fault.component for strike in strikes for fault in strike.faults]
    assert set(hits) == set(left)
    assert strikes == faults.choose(seed=1, faults=60, longest_seconds=30, components=left)


def test_a_single_component_is_hit_singly() -> None:
    strikes = faults.choose(seed=1, faults=9, longest_seconds=30, components=[Component.DISK])
    assert [len(strike.faults) for strike in strikes] == [1] * 9
    assert {strike.faults[0].way for strike in strikes} == {Way.FILL, Way.SLOW}


def test_reports_are_cut_both_ways_but_not_for_others() -> None:
    cut = cuts.reports(uids=USERS, service_ports=(8100,), their_ports=(4000,))
    assert [" ".join(rule) for rule in cut.rules] == [
        f"-p tcp --dport 8100 -m owner --uid-owner {USERS} -j DROP",
        "-p tcp --sport 8100 --dport 4000 -j DROP",
    ]


def test_workers_are_cut_from_each_other_but_not_from_coordinators_and_the_service() -> None:
    cut = cuts.gradients(uids=USERS, but=(8100, 5000))
    assert [" ".join(rule) for rule in cut.rules] == [
        "-p tcp --dport 8100 -j RETURN",
        "-p tcp --sport 8100 -j RETURN",
        "-p tcp --dport 5000 -j RETURN",
        "-p tcp --sport 5000 -j RETURN",
        f"-p tcp -m owner --uid-owner {USERS} -j DROP",
    ]


def test_what_a_killed_run_left_is_removed_and_nothing_of_one_that_goes_on(folder: Path) -> None:
    killed, going_on, foreign = (folder / f"{earlier_runs.PREFIX}{name}" for name in "abc")
    for one in (killed, going_on, foreign):
        (one / "home").mkdir(parents=True)
    (killed / earlier_runs.LOCK).touch()
    lock = os.open(going_on / earlier_runs.LOCK, os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    told: list[str] = []
    mark = {"CONCERTINA_STATE": f"{killed}/home/state"}
    with subprocess.Popen(("sleep", "600"), env=mark) as orphan:
        try:
            earlier_runs.clean(folder, say=told.append)
            assert not psutil.pid_exists(orphan.pid)
        finally:
            os.close(lock)
            orphan.kill()
    assert [path.name[-1] for path in sorted(folder.iterdir())] == ["b", "c"]
    assert [str(killed) in line for line in told] == [True]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="takes root, on Linux")
def test_a_disk_and_a_network_of_its_own_are_taken_away_and_given_back(folder: Path) -> None:
    paths = os.pathsep.join(path for path in sys.path if path)
    ran = subprocess.run(
        (sys.executable, "-c", ON_A_DISK_OF_ITS_OWN, str(folder)),
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode == 77:
        pytest.skip("the kernel refuses namespaces here")
    assert ran.stdout.splitlines() == ["No space left on device", "['late', 'more']", "2", "0"], (
        ran.stderr
    )
    assert list((folder / "mounted").iterdir()) == []  # to us it was never mounted


def test_a_second_api_listens_elsewhere_and_only_where_the_network_is_its_own(folder: Path) -> None:
    spec = ProcessSpec(
        name="api",
        command=("gunicorn", "--bind", "127.0.0.1:8100"),
        log=folder / "api.log",
        working_directory=folder,
    )
    stack = TargetStack(
        checkout=checkouts.find(home=folder),
        options=Options(),
        url="http://127.0.0.1:8100",
        tokens={},
        shared_dir=folder,
        has_network=True,
    )
    second = doubles.second(spec, stack)
    assert second is not None
    assert (second.name, second.command[-1]) == ("api-2", "127.0.0.1:8101")
    assert doubles.second(spec, replace(stack, has_network=False)) is None
