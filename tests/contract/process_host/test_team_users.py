"""What can a job do to others on a machine without containers? Tried from inside."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psutil
import pytest
from cluster.process_host.record import leftovers, records
from cluster.process_host.user_settings import UserMode, UserSettings
from cluster.process_host.users import folders
from cluster.process_host.users.team_users import TeamUsers
from cluster.worker_host import Mount, ProcessRole
from django.conf import settings

from tests.contract.conftest import SCRIPTS, ProcessBench, WarmBench, exited, labels, texts, until

USERS: Final = TeamUsers(first=1_950_000_000, last=1_950_000_009)
OURS, THEIRS = USERS.of(1, ProcessRole.WORKER), USERS.of(2, ProcessRole.WORKER)
SPY: Final = str(SCRIPTS / "spy.py")


@pytest.fixture(autouse=True)
def _team_users() -> None:
    """They are had where the service itself would have them."""
    told = UserSettings(mode=UserMode.AUTO, range=USERS, is_everybody_trusted=False)
    if told.why_not_used:
        pytest.skip(told.why_not_used)


def run_for_ever(bench: ProcessBench, process_id: str, user: int | None) -> int:
    """Start it; returns its pid."""
    command = (sys.executable, "-S", "-c", "import signal; print('up', flush=True); signal.pause()")
    bench.launch(process_id, command, user=user)
    until(lambda: texts(bench, process_id) == ["up"])
    found = records.read(bench.host.state_dir / "processes" / process_id / "command.json")
    assert found is not None
    return int(found["pid"])


def spy(
    bench: ProcessBench,
    process_id: str,
    plan: dict[str, Any],
    *,
    user: int | None = OURS,
    shown: Path | None = None,
) -> dict[str, Any]:
    own = bench.host.state_dir / "jobs" / "job1" / "checkpoints"
    command = (sys.executable, SPY, json.dumps({**plan, "own": str(own)}))
    mounts = [Mount(source=own, target=str(own))]
    if shown is not None:
        mounts.append(Mount(source=shown, target=str(shown), is_writable=False))
    bench.launch(process_id, command, user=user, mounts=tuple(mounts))
    assert exited(bench.host, process_id).exit_code == 0, texts(bench, process_id)
    seen: dict[str, Any] = json.loads(texts(bench, process_id)[-1])
    return seen


def sockets() -> list[str]:
    """Where the database and the queue of these tests listen; ports are open to every user."""
    database, queue = settings.DATABASES["default"], urlsplit(settings.CONCERTINA.redis_url)
    found = []
    if database["HOST"].startswith("/"):
        found.append(f"{database['HOST']}/.s.PGSQL.{database['PORT'] or 5432}")
    if queue.scheme == "unix":
        found.append(queue.path)
    return found


def supervisor_of(bench: ProcessBench, process_id: str) -> int:
    """Its pid."""
    folder = bench.host.state_dir / "processes" / process_id
    found = records.read(folder / "supervisor.json")
    assert found is not None
    return int(found["pid"])


def has_below_it(supervisor: int, record: Path) -> bool:
    """Whether one of its processes says that this record is its own."""
    with contextlib.suppress(psutil.Error):  # one ends while it is looked at
        below = psutil.Process(supervisor).children(recursive=True)
        return any(one.environ().get(records.RECORD_VARIABLE) == str(record) for one in below)
    return False


@pytest.fixture(params=["cold", "warm"])
def bench(request: pytest.FixtureRequest) -> Iterator[ProcessBench]:
    chosen: ProcessBench = request.getfixturevalue(
        "process_bench" if request.param == "cold" else "warm_bench"
    )
    (chosen.host.state_dir.parent / "secrets.json").write_text("{}")
    return chosen


def test_a_job_reaches_nothing_of_the_service_or_of_another_team(bench: ProcessBench) -> None:
    victim = run_for_ever(bench, "victim", THEIRS)
    state = bench.host.state_dir
    their_folder = state / "jobs" / "job2" / "checkpoints"
    folders.give(their_folder, THEIRS)
    (their_folder / "weights").write_text("theirs")
    supervisor = supervisor_of(bench, "victim")
    plan = {
        "read": [
            str(state.parent / "secrets.json"),
            str(state / "processes" / "victim" / "launch.json"),
            str(their_folder / "weights"),
            str(state / "homes" / str(THEIRS)),
            "/etc/shadow",
            *(f"/proc/{pid}/environ" for pid in (os.getpid(), victim, supervisor)),
        ],
        "connect": sockets(),
        "kill": [victim, supervisor, os.getpid()],
        "trace": [victim, supervisor],
    }
    as_the_service = spy(bench, "root", {**plan, "kill": [], "trace": []}, user=None)
    tried = len(plan["read"]) + len(plan["connect"]) + 1  # to become root
    assert len(as_the_service["reached"]) == tried
    seen = spy(bench, "spy", plan)
    assert seen["reached"] == []
    assert (seen["user"], seen["groups"], seen["capabilities"]) == ([OURS] * 3, [], 0)
    assert seen["has_no_new_privileges"]
    assert seen["owner_of_its_proc"] == OURS
    assert seen["home"] == str(state / "homes" / str(OURS))
    assert seen["is_warm"] or not isinstance(bench, WarmBench)


def test_a_hidden_folder_is_hidden_however_open_it_is(bench: ProcessBench) -> None:
    """But for what the job needs in it."""
    with tempfile.TemporaryDirectory() as name:
        folder, needed = Path(name), Path(name, "needed")
        needed.mkdir()
        for one in (folder, needed):
            (one / "token").write_text("")
            one.chmod(0o777)
        plan = {"read": [f"{one}/token" for one in (folder, needed)]}
        plan |= {"connect": [], "kill": [], "trace": []}
        assert len(spy(bench, "open", plan)["reached"]) == 2
        bench.host = replace(bench.host, hidden_folders=(folder,))
        seen = spy(bench, "hidden", plan, shown=needed)
        assert seen["reached"] == [f"read {needed}/token"]
        assert spy(bench, "closed", plan)["reached"] == []


def test_what_a_team_keeps_is_its_own_on_the_next_start_too(process_bench: ProcessBench) -> None:
    own = process_bench.host.state_dir / "jobs" / "job1" / "checkpoints"
    own.mkdir(parents=True)
    (own / "of root").write_text("from before teams had users")
    (own / "link").symlink_to(process_bench.folder)
    spy(process_bench, "spy", {"read": [], "connect": [], "kill": [], "trace": []})
    assert {path.lstat().st_uid for path in (own, *own.iterdir())} == {OURS}
    assert process_bench.folder.stat().st_uid == 0
    assert own.stat().st_mode & 0o077 == 0


def test_a_workdir_that_is_closed_to_the_team_is_told(
    process_bench: ProcessBench,
) -> None:
    closed = process_bench.folder / "closed"
    closed.mkdir(mode=0o700)
    for process_id, command in (("w1", ("true",)), ("w2", (sys.executable, SPY, "{}"))):
        process_bench.launch(process_id, command, user=OURS, workdir=str(closed))
        assert exited(process_bench.host, process_id).exit_code == 127
        (line,) = texts(process_bench, process_id)
        assert f"cannot enter the working directory {str(closed)!r}" in line


def test_a_coordinator_that_starts_later_leaves_the_workers_folder_to_them(
    process_bench: ProcessBench,
) -> None:
    """They are two users, and neither may be locked out of where it works."""
    script = "trap 'echo mine > written; exit $?' TERM; echo up; while :; do sleep 0.02; done"
    process_bench.launch("w1", ("sh", "-c", script), user=OURS)
    until(lambda: texts(process_bench, "w1") == ["up"])
    coordinator = replace(labels("c1"), role=ProcessRole.COORDINATOR)
    user = USERS.of(1, ProcessRole.COORDINATOR)
    process_bench.launch("c1", ("true",), user=user, labels=coordinator)
    assert exited(process_bench.host, "c1").exit_code == 0
    process_bench.host.stop("w1", grace_seconds=90.0)
    assert exited(process_bench.host, "w1").exit_code == 0, texts(process_bench, "w1")


def test_a_process_that_only_looks_like_one_of_the_services_is_none(
    process_bench: ProcessBench,
) -> None:
    """It would be listed, or keep another team's process from being over."""
    folder = process_bench.host.state_dir / "processes"
    forged = {
        records.RECORD_VARIABLE: str(folder / "victim"),
        records.LABELS_VARIABLE: json.dumps({"process_id": "x", "no": "labels"}),
    }
    variables = shlex.join(f"{name}={value}" for name, value in forged.items())
    script = f"exec env {variables} sleep 600"
    process_bench.launch("w1", ("sh", "-c", f"echo up; {script}"), user=OURS)
    until(lambda: texts(process_bench, "w1") == ["up"])
    supervisor = supervisor_of(process_bench, "w1")
    until(lambda: has_below_it(supervisor, folder / "victim"))
    assert [found.labels.process_id for found in process_bench.host.list().processes] == ["w1"]
    assert leftovers.see_off(folder / "victim", user=THEIRS, seconds=0.0)


def test_a_killed_supervisor_takes_a_teams_process_along(process_bench: ProcessBench) -> None:
    pid = run_for_ever(process_bench, "w1", OURS)
    os.kill(supervisor_of(process_bench, "w1"), signal.SIGKILL)
    assert exited(process_bench.host, "w1").exit_code == -9
    until(lambda: not Path(f"/proc/{pid}/environ").exists())


def test_a_zygote_begins_with_nothing_that_a_team_chose(warm_bench: WarmBench) -> None:
    """It runs as root."""
    code = (sys.executable, "-m", "this")
    warm_bench.launch("w1", code, user=OURS, env={"OMP_NUM_THREADS": "7"})
    warm_bench.launch("w2", code, user=OURS, env={"OMP_TOOL_LIBRARIES": "x.so"})
    warm_bench.launch("w3", code, user=OURS, env={"OMP_NUM_THREADS": "../7"})
    for process_id in ("w1", "w2", "w3"):
        assert exited(warm_bench.host, process_id).exit_code == 0
    assert len(list(warm_bench.host.zygotes.folder.iterdir())) == 2  # the bench's own, and w1's


def test_data_is_seen_where_it_is_and_stays_whose_it_was(process_bench: ProcessBench) -> None:
    data = process_bench.folder / "imagenet"
    data.mkdir(mode=0o755)
    (data / "a").write_text("a sample")
    mounts = (Mount(source=data, target=str(data), is_ours=False),)
    process_bench.launch("w1", ("cat", str(data / "a")), user=OURS, mounts=mounts)
    assert exited(process_bench.host, "w1").exit_code == 0, texts(process_bench, "w1")
    assert texts(process_bench, "w1") == ["a sample"]
    assert {path.stat().st_uid for path in (data, data / "a")} == {0}
