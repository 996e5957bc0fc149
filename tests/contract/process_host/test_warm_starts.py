"""A script that a zygote starts cannot tell, and nobody else can, except by the clock."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster.process_host.commands.plain_python import can_start_warm, is_plain, read_at_import
from cluster.process_host.commands.zygotes import ZygoteKeeper, version_of
from cluster.process_host.record import leftovers, records
from cluster.process_host.sweep import sweep
from cluster.worker_host import Launch, ProcessLimits

from tests.contract.conftest import (
    SCRIPTS,
    ProcessBench,
    WarmBench,
    exited,
    labels,
    our_path,
    until,
)

MIRROR = str(SCRIPTS / "mirror.py")
OF_A_JOB = {"OMP_NUM_THREADS": "3", "API_KEY": "sesame"}


def reflect(bench: ProcessBench, process_id: str, *ending: str) -> tuple[dict[str, Any], list[str]]:
    """What the script saw, and all it wrote; ordinary and warm starts get the same command."""
    left_open = bench.folder / "left_open"
    command = (sys.executable, MIRROR, str(left_open), *ending)
    bench.launch(process_id, command, workdir=str(SCRIPTS), env=OF_A_JOB)
    exited(bench.host, process_id)
    assert left_open.read_text() == "written"
    lines = list(bench.host.logs((process_id,), job_id="job1"))
    first, second, *others = [line.text for line in lines if line.stream == "stdout"]
    errors = [line.text for line in lines if line.stream == "stderr"]
    return {**json.loads(first), **json.loads(second)}, others + errors


@pytest.mark.parametrize("ending", [("end",), ("raise",), ("exit", "7")], ids=" ".join)
def test_a_warm_start_looks_to_the_script_like_any_other(
    warm_bench: WarmBench, ending: tuple[str, ...]
) -> None:
    cold, cold_end = reflect(warm_bench, "w1", *ending)  # its environment is new to the host
    until(lambda: len(list(warm_bench.host.state_dir.glob("zygotes/*/socket"))) == 2)
    warm, warm_end = reflect(warm_bench, "w2", *ending)
    other, _ = reflect(warm_bench, "w3", *ending)
    assert [seen.pop("is_warm") for seen in (cold, warm, other)] == [False, True, True]
    assert len({seen.pop("random") for seen in (cold, warm, other)}) == 3
    assert warm == cold
    assert warm_end == cold_end
    codes = [exited(warm_bench.host, name).exit_code for name in ("w1", "w2")]
    assert codes == [{"end": 0, "raise": 1, "exit": 7}[ending[0]]] * 2


def test_a_script_that_is_not_there_is_told_as_python_does(warm_bench: WarmBench) -> None:
    warm_bench.launch("w1", (sys.executable, "/no/such/script.py"))
    assert exited(warm_bench.host, "w1").exit_code == 2
    (line,) = warm_bench.host.logs(("w1",), job_id="job1")
    assert "can't open file '/no/such/script.py': [Errno 2] No such file" in line.text


def test_a_memory_limit_binds_a_warm_start(warm_bench: WarmBench) -> None:
    command = (sys.executable, MIRROR, str(warm_bench.folder / "x"), "allocate", str(1 << 30))
    warm_bench.launch("w1", command, limits=ProcessLimits(memory_bytes=256 << 20))
    warm_bench.launch("w2", command, limits=ProcessLimits(memory_bytes=4 << 30))
    assert exited(warm_bench.host, "w1").exit_code == 1
    assert exited(warm_bench.host, "w2").exit_code == 0


def test_what_a_zygote_started_outlives_it_and_the_next_start_is_an_ordinary_one(
    warm_bench: WarmBench,
) -> None:
    warm_bench.start("w1")
    (folder,) = (warm_bench.host.state_dir / "zygotes").iterdir()
    assert leftovers.kill(warm_bench.host.state_dir / "processes" / folder.name) == 1
    warm_bench.start("w2")
    for name, code in (("w1", 3), ("w2", 4)):
        warm_bench.end(name, code)
        assert exited(warm_bench.host, name).exit_code == code
    until(lambda: _answers(folder / "socket"))  # there is a new one for the third


def test_a_warm_process_is_found_by_its_mark_and_its_supervisor_takes_it_along(
    warm_bench: WarmBench,
) -> None:
    warm_bench.start("w1")
    folder = warm_bench.host.state_dir / "processes" / "w1"
    supervisor = records.read(folder / "supervisor.json")
    assert supervisor is not None
    children = Path(f"/proc/{supervisor['pid']}/task/{supervisor['pid']}/children")
    (worker,) = children.read_text().split()
    shown = Path(f"/proc/{worker}/cmdline").read_text().split("\0")
    assert shown[:2] == [sys.executable, str(SCRIPTS / "obedient.py")]
    assert f"{records.RECORD_VARIABLE}={folder}" in Path(f"/proc/{worker}/environ").read_text()
    os.kill(supervisor["pid"], signal.SIGKILL)
    assert exited(warm_bench.host, "w1").exit_code == -9
    until(lambda: not Path(f"/proc/{worker}").exists())


def test_the_zygote_asked_longest_ago_makes_room_for_one_too_many(warm_bench: WarmBench) -> None:
    def prepare_one_for(threads: str) -> Path:
        known = set(folder.iterdir())
        env = {"PYTHONPATH": our_path(), "OMP_NUM_THREADS": threads}
        zygotes.prepare([{"arguments": [sys.executable, "train.py"], "env": env}])
        (new,) = set(folder.iterdir()) - known
        until(lambda: (new / "socket").exists() and _answers(new / "socket"))
        return new

    zygotes = replace(warm_bench.host.zygotes, most=2)
    folder = zygotes.folder
    (first,) = folder.iterdir()
    second = prepare_one_for("2")
    warm_bench.start("w1")  # asks the first one
    third = prepare_one_for("3")
    until(lambda: not _answers(second / "socket"))
    assert _answers(first / "socket")
    fourth = prepare_one_for("4")
    until(lambda: not _answers(first / "socket"))
    assert _answers(third / "socket")
    assert _answers(fourth / "socket")
    warm_bench.end("w1", 3)
    assert exited(warm_bench.host, "w1").exit_code == 3


def test_of_a_zygote_that_has_ended_nothing_stays(warm_bench: WarmBench) -> None:
    zygotes = warm_bench.host.zygotes
    (dead,) = zygotes.folder.iterdir()
    assert leftovers.kill(warm_bench.host.state_dir / "processes" / dead.name) == 1
    until(lambda: not _answers(dead / "socket"))
    env = {"PYTHONPATH": our_path(), "OMP_NUM_THREADS": "2"}
    zygotes.prepare([{"arguments": [sys.executable, "train.py"], "env": env}])
    (left,) = zygotes.folder.iterdir()
    assert left != dead


def test_a_launch_does_without_a_zygote_that_cannot_be_made(
    process_bench: ProcessBench, caplog: pytest.LogCaptureFixture
) -> None:
    process_bench.host.state_dir.mkdir(parents=True, exist_ok=True)
    (process_bench.host.state_dir / "zygotes").write_text("no folder")
    process_bench.launch("w1", (sys.executable, "-m", "this"))
    assert exited(process_bench.host, "w1").exit_code == 0
    assert "No zygote could be made" in caplog.text


def test_a_zygote_that_never_detaches_itself_is_given_up(
    process_bench: ProcessBench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    stuck_python = tmp_path / "python"
    stuck_python.write_text("#!/bin/sh\nexec sleep 600\n")
    stuck_python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stuck_python))
    monkeypatch.setattr("cluster.process_host.commands.zygotes._BEGIN_SECONDS", 0.2)
    command = {"arguments": [str(stuck_python), "train.py"], "env": {}}
    process_bench.host.zygotes.prepare([command])
    assert "No zygote could be made" in caplog.text


def test_a_launch_does_without_a_zygote_that_hangs(
    warm_bench: WarmBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.process_host.starting._WARM_TIMEOUT_SECONDS", 0.2)
    _suspend_the_zygote(warm_bench)
    warm_bench.launch("w1", (sys.executable, "-m", "this"))
    assert exited(warm_bench.host, "w1").exit_code == 0


def test_a_zygote_is_asked_for_all_launches_before_its_answers_are_awaited(
    warm_bench: WarmBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waited for each would wait for ever: none is answered before all have asked."""
    monkeypatch.setattr("cluster.process_host.starting._WARM_TIMEOUT_SECONDS", 1e6)
    launches = [
        Launch(
            labels=labels(f"w{number}"),
            command=(sys.executable, "-m", "this"),
            env={"PYTHONPATH": our_path()},
            node="n1",
        )
        for number in range(6)
    ]
    address = _suspend_the_zygote(warm_bench)
    address.unlink()
    with contextlib.chdir(address.parent), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address.name)
        listener.listen()
        with ThreadPoolExecutor() as pool:
            turned_away = pool.submit(_turn_away, listener, len(launches))
            warm_bench.host.start(*launches)
        assert turned_away.result() == len(launches)
    assert len(warm_bench.host.list().processes) == len(launches)


def test_a_zygote_that_imported_older_code_is_not_asked(warm_bench: WarmBench) -> None:
    warm_bench.start("w1")
    launch = records.read(warm_bench.host.state_dir / "processes" / "w1" / "launch.json")
    assert launch is not None
    keeper = ZygoteKeeper(command=("/bin/true",), env={}, workdir="/", output=1)
    zygotes = replace(warm_bench.host.zygotes, most=2)
    connection = zygotes.ask(launch["command"], keeper)
    assert connection is not None
    connection.close()
    assert replace(zygotes, version="newer").ask(launch["command"], keeper) is None


def test_what_zygotes_import_has_a_new_version_once_a_package_is_installed(tmp_path: Path) -> None:
    package, installed = tmp_path / "package", tmp_path / "site-packages"
    for folder in (package, installed):
        folder.mkdir()
        (folder / "some.py").touch()
    versions = [version_of(package, [installed])]
    (installed / "torch-2.13.dist-info").mkdir()
    versions.append(version_of(package, [installed]))
    os.utime(package / "some.py")
    versions.append(version_of(package, [installed]))
    assert len(set(versions)) == 3
    assert version_of(package, [installed]) == versions[-1]


def test_a_sweep_ends_zygotes_too(warm_bench: WarmBench) -> None:
    (path,) = warm_bench.host.state_dir.glob("zygotes/*/socket")
    assert _answers(path)
    sweep(warm_bench.host.state_dir, grace_seconds=0.0)
    until(lambda: not _answers(path))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((sys.executable, "train.py", "--epochs", "3"), True),
        (("python", "train.py"), True),
        (("python", "-m", "training"), True),
        (("python", "-u", "train.py"), False),
        (("python", "-c", "pass"), False),
        (("python", "-m"), False),
        (("python",), False),
        (("/bin/sh", "train.py"), False),
        (("no-such-python", "train.py"), False),
    ],
)
def test_only_plain_scripts_and_modules_of_our_own_interpreter_start_warm(
    arguments: tuple[str, ...], *, expected: bool
) -> None:
    env = {"PATH": str(Path(sys.executable).parent)}
    assert is_plain(arguments, env) is expected


def test_a_zygote_begins_with_what_libraries_read_at_import_and_with_nothing_else() -> None:
    read = {"OMP_NUM_THREADS": "3", "LC_ALL": "C", "HOME": "/home/ada", "TORCH_LOGS": "all"}
    told = {
        "API_KEY": "sesame",
        "CUDA_VISIBLE_DEVICES": "3",
        "TORCHELASTIC_RUN_ID": "7",
        "TORCH_HOME": "/home/ada/hub",
        "TORCHINDUCTOR_CACHE_DIR": "/home/ada/compiled",
        "TORCH_EXTENSIONS_DIR": "/home/ada/extensions",
        "SEED": "1",
    }
    assert read_at_import({**read, **told}) == read


@pytest.mark.parametrize(
    "names_code",
    [
        {"PYTHONPATH": "/home/ada/modules"},
        {"PYTHONPATH": os.pathsep.join([str(SCRIPTS.parent), ""])},  # and the working directory
        {"PYTHONHOME": "/home/ada/python"},
        {"LD_PRELOAD": "libjemalloc.so.2"},
    ],
    ids=str,
)
def test_a_launch_that_names_code_of_its_own_starts_in_the_ordinary_way(
    names_code: dict[str, str],
) -> None:
    env = {"PATH": str(Path(sys.executable).parent)}
    assert can_start_warm(("python", "train.py"), env)
    assert can_start_warm(("python", "train.py"), {**env, "PYTHONPATH": our_path()})
    assert not can_start_warm(("python", "train.py"), {**env, **names_code})


def test_a_job_gets_its_secret_and_no_zygote_does(warm_bench: WarmBench) -> None:
    reflect(warm_bench, "w1", "end")  # its threads are new to the host, which makes a zygote
    until(lambda: len(list(warm_bench.host.state_dir.glob("zygotes/*/socket"))) == 2)
    warm, _ = reflect(warm_bench, "w2", "end")
    assert warm["is_warm"]
    assert warm["env"].items() >= OF_A_JOB.items()
    found = _environments_of_zygotes(warm_bench.host.state_dir)
    assert [env.get("OMP_NUM_THREADS") for env in found] == [None, "3"]
    assert not any("API_KEY" in env for env in found)


def test_launches_that_differ_in_what_is_read_later_share_a_zygote(warm_bench: WarmBench) -> None:
    command = (sys.executable, MIRROR, str(warm_bench.folder / "x"), "end")
    warm_bench.launch("w1", command, env={"SEED": "1"})
    exited(warm_bench.host, "w1")
    assert '"is_warm": true' in "".join(
        line.text for line in warm_bench.host.logs(("w1",), job_id="job1")
    )


def _suspend_the_zygote(bench: WarmBench) -> Path:
    """The only one goes no further; returns its address."""
    (folder,) = bench.host.zygotes.folder.iterdir()
    os.kill(int((folder / "lock").read_text()), signal.SIGSTOP)
    return folder / "socket"


def _turn_away(listener: socket.socket, count: int) -> int:
    """Keep so many requests, or as many as come, then give up all; returns how many came."""
    listener.settimeout(120)
    kept: list[socket.socket] = []
    with contextlib.suppress(TimeoutError):
        while len(kept) < count:
            kept.append(listener.accept()[0])
    for connection in kept:
        connection.close()
    return len(kept)


def _environments_of_zygotes(state_dir: Path) -> list[dict[str, str]]:
    """As they began, by the number of threads that they were given."""
    marks = {str(state_dir / "processes" / path.name) for path in state_dir.glob("zygotes/*")}
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            pairs = (pair.partition("=") for pair in path.read_text().split("\0"))
            env = {name: value for name, _, value in pairs}
            found += [env] if env.get(records.RECORD_VARIABLE) in marks else []
    return sorted(found, key=lambda env: env.get("OMP_NUM_THREADS", ""))


def _answers(path: Path) -> bool:
    """Whether a zygote listens there: it drops a connection that says nothing."""
    with socket.socket(socket.AF_UNIX) as connection:
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            connection.connect(f"/proc/self/fd/{descriptor}/{path.name}")
        except OSError:
            return False
        finally:
            os.close(descriptor)
    return True
