"""What can a job do to others on a node of a real Ray cluster, where root is? Tried from inside."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psutil
import pytest
from cluster.process_host.record import identity, records
from cluster.process_host.users import folders
from cluster.process_host.users.team_users import TeamUsers
from cluster.ray_host.host import RayHost
from cluster.worker_host import Mount, ProcessRole

from tests.contract.conftest import SCRIPTS, RayBench, answers, exited, texts, until
from tests.ray_cluster import INSTALLATION, NODE, RayCluster

pytestmark = [
    pytest.mark.thorough,  # with a real cluster
    pytest.mark.skipif(os.geteuid() != 0, reason="only root starts processes as other users"),
]
USERS: Final = TeamUsers(first=1_951_000_000, last=1_951_009_999)
OURS, THEIRS = USERS.of(1, ProcessRole.WORKER), USERS.of(2, ProcessRole.WORKER)
WAITS: Final = "import signal; print('up', flush=True); signal.pause()"
LOOKS_LATER: Final = """
import os, sys, time
print("up", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
def reaches(place):
    try:
        return bool(os.listdir(place)) if os.path.isdir(place) else os.path.exists(place)
    except OSError:
        return False
print([place for place in sys.argv[2:] if reaches(place)])
"""
ASKS_HELPERS: Final = """
import sys, urllib.error, urllib.request
for place in sys.argv[1:]:
    url = f"http://{place}/get_or_create_runtime_env"
    try:
        print(urllib.request.urlopen(url, data=b"{}", timeout=60).status)
    except urllib.error.HTTPError as problem:
        print(problem.code)
    except Exception:
        print("speaks no HTTP")
"""


@pytest.fixture
def bench(ray_cluster: RayCluster, tmp_path: Path) -> Iterator[RayBench]:
    host = RayHost(
        state_dir=ray_cluster.folder / "state",
        link=ray_cluster.link(first_user=USERS.first),
        nodes=lambda: {NODE: 2},
        answer_seconds=90.0,  # the tests' machine may be busy
    )
    until(lambda: answers(host), seconds=180.0)
    control = tmp_path / "control"
    control.mkdir()
    yield RayBench(host=host, folder=control)
    ray_cluster.sweep()
    host.close()


def run_for_ever(bench: RayBench, cluster: RayCluster) -> int:
    """Start one of the other team; returns its pid."""
    bench.launch("victim", (sys.executable, "-S", "-c", WAITS), user=THEIRS)
    until(lambda: texts(bench, "victim") == ["up"])
    command = node_of(cluster) / "processes" / "victim" / "command.json"
    return int((records.read(command) or {})["pid"])


def node_of(cluster: RayCluster) -> Path:
    return cluster.node_dir / INSTALLATION / NODE


def spy(bench: RayBench, process_id: str, plan: dict[str, Any], *, user: int | None) -> Any:
    own = bench.host.state_dir / "jobs" / "job1" / "checkpoints"
    command = (sys.executable, str(SCRIPTS / "spy.py"), json.dumps({**plan, "own": str(own)}))
    bench.launch(process_id, command, user=user, mounts=(Mount(source=own, target=str(own)),))
    assert exited(bench.host, process_id).exit_code == 0, texts(bench, process_id)
    return json.loads(texts(bench, process_id)[-1])


def raylet_of(cluster: RayCluster) -> identity.ProcessIdentity:
    (raylet,) = cluster.processes("raylet/raylet ")
    return raylet


def place(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def test_a_job_reaches_nothing_of_ray_or_of_another_team(
    ray_cluster: RayCluster, bench: RayBench
) -> None:
    victim, raylet = run_for_ever(bench, ray_cluster), raylet_of(ray_cluster).pid
    state, node = bench.host.state_dir, node_of(ray_cluster)
    theirs = state / "jobs" / "job2" / "checkpoints"
    folders.give(theirs, THEIRS)
    (theirs / "weights").write_text("theirs")
    session = ray_cluster.folder / str(ray_cluster.port)
    (agent,) = ray_cluster.processes("ray::Agent")
    sockets = [str(one) for one in session.glob("session_2*/sockets/raylet*")]
    plan = {
        "read": [
            *(str(ray_cluster.token_file), str(session), str(theirs / "weights")),
            *(str(node / "logs"), str(node / "processes" / "victim" / "launch.json")),
            *(f"/proc/{pid}/environ" for pid in (raylet, agent.pid, victim)),
        ],
        "connect": sockets,
        "kill": [victim, raylet, agent.pid],
        "trace": [victim, raylet],
    }
    as_root = spy(bench, "root", {**plan, "kill": [], "trace": []}, user=None)
    assert len(as_root["reached"]) == len(plan["read"]) + len(sockets) + 1  # to become root
    seen = spy(bench, "spy", plan, user=OURS)
    assert seen["reached"] == []
    assert (seen["user"], seen["groups"], seen["capabilities"]) == ([OURS] * 3, [], 0)
    assert seen["home"] == str(node / "homes" / str(OURS))
    assert (state / "jobs" / "job1" / "checkpoints" / "checkpoint").stat().st_uid == OURS
    assert stat.S_IMODE(session.stat().st_mode) == 0o700


def test_what_ray_opens_later_stays_closed_to_what_runs(
    ray_cluster: RayCluster, bench: RayBench
) -> None:
    """A `ray start` on the node opens Ray's folder to all, until an agent closes it again."""
    session = ray_cluster.folder / str(ray_cluster.port)
    own = bench.host.state_dir / "jobs" / "later" / "checkpoints"
    places = [str(session), *map(str, session.glob("session_2*/sockets/raylet*"))]
    command = (sys.executable, "-c", LOOKS_LATER, str(own / "go"), *places)
    ray_cluster.folder.chmod(0o755)  # in its place is /tmp elsewhere
    try:
        bench.launch("later", command, user=OURS, mounts=(Mount(source=own, target=str(own)),))
        until(lambda: texts(bench, "later") == ["up"])
        session.chmod(0o777)
        (own / "go").touch()
        exited(bench.host, "later")
    finally:
        ray_cluster.folder.chmod(0o700)
        session.chmod(0o700)
    assert texts(bench, "later") == ["up", "[]"]


def test_rays_helpers_take_no_word_of_a_job(ray_cluster: RayCluster, bench: RayBench) -> None:
    """They run as root, and one would install whatever it is told to."""
    raylet = psutil.Process(raylet_of(ray_cluster).pid)
    places = {
        place(*one.laddr)
        for helper in raylet.children(recursive=True)
        for one in helper.net_connections("tcp")
        if one.status == psutil.CONN_LISTEN
    }
    command = (sys.executable, "-c", ASKS_HELPERS, *sorted(places))
    bench.launch("w1", command, user=OURS)
    assert exited(bench.host, "w1").exit_code == 0, texts(bench, "w1")
    told = set(texts(bench, "w1"))
    assert "401" in told, (places, told)
    assert told <= {"401", "404", "405", "speaks no HTTP"}
