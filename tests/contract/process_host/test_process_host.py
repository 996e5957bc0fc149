"""What the process host promises beyond the port: survival, clean environments, honest logs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from cluster.logs.log_files import LogBounds
from cluster.process_host.host import ProcessHost
from cluster.process_host.record import environments, leftovers, records
from cluster.process_host.sweep import sweep
from cluster.worker_host import Launch, ProcessLimits, ProcessPhase

from tests.campaigns import rounds
from tests.contract.conftest import ProcessBench, exited, labels, observed, texts, until

PYTHON = sys.executable
RUN_FOR_EVER = (PYTHON, "-S", "-c", "import signal; print('up', flush=True); signal.pause()")


def record(bench: ProcessBench, process_id: str) -> records.CommandRecord:
    return records.CommandRecord(folder=bench.host.state_dir / "processes" / process_id)


def document(path: Path) -> dict[str, Any]:
    content = records.read(path)
    assert content is not None
    return content


def ours(bench: ProcessBench) -> list[psutil.Process]:
    """Every process that carries this bench's mark, supervisors included."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            mark = process.environ().get(records.RECORD_VARIABLE, "")
            if mark.startswith(f"{bench.host.state_dir}/") and process.status() != "zombie":
                found.append(process)
    return found


def is_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_process_survives_the_death_of_the_service_that_started_it(
    process_bench: ProcessBench,
) -> None:
    service = textwrap.dedent(f"""
        import os, signal
        from pathlib import Path
        from cluster.process_host.host import ProcessHost
        from cluster.worker_host import Labels, Launch, ProcessRole
        labels = Labels(process_id="w1", job_id="job1", role=ProcessRole.WORKER, attempt=1, fence=1)
        host = ProcessHost(state_dir=Path({str(process_bench.host.state_dir)!r}))
        host.start(Launch(labels=labels, command={RUN_FOR_EVER!r}, env={{}}, node="n1"))
        os.killpg(os.getpgid(0), signal.SIGKILL)
    """)
    path = os.pathsep.join(sys.path)
    died = subprocess.run(
        (PYTHON, "-c", service), check=False, start_new_session=True, env={"PYTHONPATH": path}
    )
    assert died.returncode == -signal.SIGKILL
    process = observed(process_bench.host, "w1")
    assert process is not None
    assert process.phase is ProcessPhase.RUNNING
    until(lambda: texts(process_bench, "w1") == ["up"])


def test_a_killed_supervisor_takes_its_process_along_and_counts_as_sigkill(
    process_bench: ProcessBench,
) -> None:
    script = "sleep 600 & echo $$ $!; wait"
    process_bench.launch("w1", ("sh", "-c", script))
    pids = [int(pid) for pid in until(lambda: texts(process_bench, "w1"))[0].split()]
    supervisor = document(record(process_bench, "w1").supervisor_path)["pid"]
    os.kill(supervisor, signal.SIGKILL)
    assert exited(process_bench.host, "w1").exit_code == -9
    until(lambda: all(is_ended(pid) for pid in pids))


def test_what_a_killed_supervisor_ran_counts_as_running_until_it_is_gone(
    process_bench: ProcessBench,
) -> None:
    """As long as it gives its memory back, so long nobody else may have its GPU."""
    script = """
import mmap, os, signal
kept = mmap.mmap(-1, 1 << 30)
kept.madvise(mmap.MADV_NOHUGEPAGE)  # the kernel takes back page by page
kept[:: mmap.PAGESIZE] = bytes(len(kept) // mmap.PAGESIZE)
print(os.getpid())
signal.pause()
"""
    process_bench.launch("w1", (PYTHON, "-S", "-u", "-c", script))
    (pid,) = until(lambda: texts(process_bench, "w1"))
    supervisor = document(record(process_bench, "w1").supervisor_path)["pid"]
    os.kill(supervisor, signal.SIGKILL)
    exited(process_bench.host, "w1")
    assert is_ended(int(pid))


def test_what_a_process_leaves_behind_ends_with_it(process_bench: ProcessBench) -> None:
    script = f"'{PYTHON}' -S -c 'import os, time; os.setsid(); time.sleep(600)' & echo $!; exit 0"
    process_bench.launch("w1", ("sh", "-c", script))
    assert exited(process_bench.host, "w1").exit_code == 0
    (pid,) = texts(process_bench, "w1")
    assert is_ended(int(pid))


def test_a_crash_between_record_and_start_is_finished_by_the_next_start(
    process_bench: ProcessBench,
) -> None:
    process_bench.launch("w1", RUN_FOR_EVER)
    launched = document(record(process_bench, "w1").launch_path)
    written = record(process_bench, "w2")
    written.folder.mkdir()
    launched["labels"]["process_id"] = "w2"
    records.replace(written.launch_path, launched)
    assert observed(process_bench.host, "w2") is None
    process_bench.launch("w2", RUN_FOR_EVER)
    assert observed(process_bench.host, "w2") is not None


def test_many_starts_at_once_run_one_process(process_bench: ProcessBench) -> None:
    code = textwrap.dedent(f"""
        from pathlib import Path
        from cluster.process_host.host import ProcessHost
        from cluster.worker_host import Labels, Launch, ProcessRole
        labels = Labels(process_id="w1", job_id="job1", role=ProcessRole.WORKER, attempt=1, fence=1)
        host = ProcessHost(state_dir=Path({str(process_bench.host.state_dir)!r}))
        host.start(Launch(labels=labels, command={RUN_FOR_EVER!r}, env={{}}, node="n1"))
    """)
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    services = [subprocess.Popen((PYTHON, "-c", code), env=env) for _ in range(4)]
    assert [service.wait(90) for service in services] == [0] * 4
    until(lambda: texts(process_bench, "w1") == ["up"])
    until(lambda: len(ours(process_bench)) == 2)  # a supervisor and its command
    assert texts(process_bench, "w1") == ["up"]


def test_a_stop_before_the_start_means_it_never_runs(process_bench: ProcessBench) -> None:
    written = record(process_bench, "w1")
    written.folder.mkdir(parents=True)
    process_bench.host.stop("w1", grace_seconds=1.0)
    records.replace(written.stop_path, {"grace_seconds": 1.0})
    process_bench.launch("w1", RUN_FOR_EVER)
    assert exited(process_bench.host, "w1").exit_code == -15
    assert texts(process_bench, "w1") == []


def test_the_grace_period_outlives_the_service(process_bench: ProcessBench) -> None:
    process_bench.start("w1", is_deaf=True)
    code = textwrap.dedent(f"""
        from pathlib import Path
        from cluster.process_host.host import ProcessHost
        host = ProcessHost(state_dir=Path({str(process_bench.host.state_dir)!r}))
        host.stop("w1", grace_seconds=0.5)
    """)
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run((PYTHON, "-c", code), check=True, env=env)
    assert exited(process_bench.host, "w1").exit_code == -9


def test_a_process_sees_none_of_the_services_secrets(
    process_bench: ProcessBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret@/secret")
    monkeypatch.setenv("CONCERTINA_SECRET_KEY", "secret")
    process_bench.launch("w1", ("env",), env={"MINE": "yes"})
    exited(process_bench.host, "w1")
    names = {text.partition("=")[0] for text in texts(process_bench, "w1")}
    assert {"PATH", "MINE"} <= names
    inherited = {"HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "PWD"}
    assert names <= {"PATH", "MINE", records.RECORD_VARIABLE} | inherited


@pytest.mark.parametrize(
    ("command", "workdir", "exit_code", "said"),
    [
        (("no-such-command",), None, 127, "command not found: 'no-such-command' in PATH"),
        (("/etc/passwd",), None, 126, "cannot execute '/etc/passwd': Permission denied"),
        (("true",), "/no/such/folder", 127, "cannot enter the working directory"),
    ],
)
def test_a_command_that_cannot_run_says_why_in_its_log(
    process_bench: ProcessBench,
    command: tuple[str, ...],
    workdir: str | None,
    exit_code: int,
    said: str,
) -> None:
    process_bench.launch("w1", command, workdir=workdir)
    assert exited(process_bench.host, "w1").exit_code == exit_code
    (text,) = texts(process_bench, "w1")
    assert said in text


def test_a_memory_limit_binds(process_bench: ProcessBench) -> None:
    allocate = (PYTHON, "-S", "-c", "held = bytearray(1 << 30); print('held')")
    process_bench.launch("w1", allocate, limits=ProcessLimits(memory_bytes=256 << 20))
    process_bench.launch("w2", allocate, limits=ProcessLimits(memory_bytes=4 << 30))
    assert exited(process_bench.host, "w1").exit_code == 1
    assert texts(process_bench, "w1")[-1] == "MemoryError"
    assert exited(process_bench.host, "w2").exit_code == 0


def test_logs_keep_partial_lines_garbage_and_long_lines(process_bench: ProcessBench) -> None:
    code = r"""
import sys
out = sys.stdout.buffer
out.write(b"caf\xc3\xa9\r\n\n")
out.write(b"bad \xff\x00\x1b[1m\n"); out.write(b"y" * 40000 + b"\n")
out.flush(); sys.stderr.write("no newline"); sys.stderr.flush()
"""
    process_bench.launch("w1", (PYTHON, "-S", "-c", code))
    exited(process_bench.host, "w1")
    lines = list(process_bench.host.logs(("w1",), job_id="job1"))
    out = [line.text for line in lines if line.stream == "stdout"]
    assert out[:3] == ["café", "", "bad \ufffd\ufffd\x1b[1m"]
    assert "".join(out[3:]) == "y" * 40000
    assert [line.text for line in lines if line.stream == "stderr"] == ["no newline"]


def test_a_flood_of_output_is_kept_whole(process_bench: ProcessBench) -> None:
    code = "for i in range(50_000): print(i)"
    process_bench.launch("w1", (PYTHON, "-S", "-c", code))
    exited(process_bench.host, "w1")
    assert texts(process_bench, "w1") == [str(i) for i in range(50_000)]


def test_what_prints_without_end_does_not_fill_the_disk(process_bench: ProcessBench) -> None:
    bounds = LogBounds(process_bytes=400_000, job_bytes=600_000)
    bench = replace(process_bench, host=replace(process_bench.host, log_bounds=bounds))
    for name in ("w1", "w2", "w3"):
        code = "for i in range(20_000): print(f'{i:0100}', flush=i % 50 == 0)"
        bench.launch(name, (PYTHON, "-S", "-c", code))
        exited(bench.host, name)
        assert int(texts(bench, name)[-1]) == 19_999
    logs = bench.host.state_dir / "logs" / "job1"
    at_once = 3 * (128 << 10)  # what a full pipe holds is written in one go, by each of the three
    written = sum(path.stat().st_size for path in logs.iterdir())
    assert written <= bounds.job_bytes + at_once  # of ten times as much
    assert len(texts(bench, "w3")) < 10_000


def test_a_process_is_found_and_stopped_without_its_record(process_bench: ProcessBench) -> None:
    process_bench.launch("w1", RUN_FOR_EVER)
    until(record(process_bench, "w1").command_path.exists)  # nobody writes there any more
    shutil.rmtree(record(process_bench, "w1").folder)
    process = observed(process_bench.host, "w1")
    assert process is not None
    assert process.labels == labels("w1")
    process_bench.host.stop("w1", grace_seconds=0.0)
    until(lambda: process_bench.host.list().processes == () and ours(process_bench) == [])


def test_a_process_that_cannot_be_noted_runs_nevertheless(process_bench: ProcessBench) -> None:
    written = record(process_bench, "w1")
    written.command_path.mkdir(parents=True)  # so that no file can take its place
    process_bench.start("w1")
    process_bench.end("w1", 3)
    assert exited(process_bench.host, "w1").exit_code == 3


def test_a_forgotten_process_is_not_found_again(
    process_bench: ProcessBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.process_host.host._SEE_OFF_SECONDS", 60.0)
    for number in range(rounds(20)):
        process_bench.launch(f"w{number}", ("true",))
        until(record(process_bench, f"w{number}").exit_path.exists)
        process_bench.host.forget(f"w{number}")
        assert process_bench.host.list().processes == ()


def test_a_pid_that_was_used_again_is_somebody_else(process_bench: ProcessBench) -> None:
    process_bench.launch("w1", RUN_FOR_EVER)
    path = record(process_bench, "w1").supervisor_path
    truth = document(path)
    os.kill(truth["pid"], signal.SIGKILL)
    until(lambda: is_ended(truth["pid"]))
    records.replace(path, {**truth, "pid": os.getpid()})
    process_bench.host.stop("w1", grace_seconds=0.0)  # must not reach this very test
    assert exited(process_bench.host, "w1").exit_code == -9


def test_a_sweep_leaves_nothing_behind(process_bench: ProcessBench) -> None:
    process_bench.start("w1", is_deaf=True)
    process_bench.launch("w2", RUN_FOR_EVER)
    assert sweep(process_bench.host.state_dir, grace_seconds=0.2) == 2
    until(lambda: ours(process_bench) == [])


def test_two_installations_on_one_machine_do_not_see_each_other(
    process_bench: ProcessBench, tmp_path: Path
) -> None:
    process_bench.launch("w1", RUN_FOR_EVER)
    other = ProcessHost(state_dir=tmp_path / "other")
    assert other.list().processes == ()
    assert sweep(other.state_dir, grace_seconds=0.0) == 0
    assert observed(process_bench.host, "w1") is not None


def test_many_starts_are_made_at_the_same_time(
    process_bench: ProcessBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each waits for all the others: one after the other, none would ever come about."""
    begun = tmp_path / "begun"
    begun.mkdir()
    waiting_python = tmp_path / "python"
    waiting_python.write_text(f"""#!/bin/sh
touch {begun}/$$
until [ "$(ls {begun} | wc -l)" = 6 ]; do sleep 0.05; done
exec '{PYTHON}' "$@"
""")
    waiting_python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(waiting_python))
    launches = [
        Launch(labels=labels(f"w{number}"), command=RUN_FOR_EVER, env={}, node="n1")
        for number in range(6)
    ]
    process_bench.host.start(*launches)
    assert len(process_bench.host.list().processes) == 6


def test_names_that_would_leave_the_folder_are_refused(process_bench: ProcessBench) -> None:
    for process_id in ("../w1", "", ".hidden", "a/b"):
        launch = Launch(labels=labels(process_id), command=("true",), env={}, node="n1")
        with pytest.raises(Exception, match="cannot name a process"):
            process_bench.host.start(launch)


def test_secrets_of_a_launch_are_readable_by_the_owner_only(process_bench: ProcessBench) -> None:
    process_bench.launch("w1", RUN_FOR_EVER, env={"CONCERTINA_TOKEN": "secret"})
    path = record(process_bench, "w1").launch_path
    assert json.loads(path.read_text())["command"]["env"]["CONCERTINA_TOKEN"] == "secret"
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_the_marks_of_others_are_left_alone(process_bench: ProcessBench) -> None:
    process_bench.launch("w1", RUN_FOR_EVER)
    assert leftovers.kill(record(process_bench, "w2").folder) == 0
    assert observed(process_bench.host, "w1") is not None


def test_a_mark_is_seen_also_while_the_kernel_starts_the_program() -> None:
    """Until its arguments are written, a process shows an empty environment."""
    mark = {records.RECORD_VARIABLE: "/records/w1"}
    seen = []
    for _ in range(100):
        with subprocess.Popen(("sleep", "600"), env=mark) as just_begun:
            seen.append(environments.raw(just_begun.pid))
            just_begun.kill()
    assert [environments.parsed(raw) for raw in seen] == [mark] * 100


def test_a_process_that_is_stopped_is_killed_nevertheless(process_bench: ProcessBench) -> None:
    process_bench.start_command("w1", RUN_FOR_EVER)
    until(lambda: texts(process_bench, "w1") == ["up"])
    (command,) = [one for one in ours(process_bench) if one.cmdline() == [*RUN_FOR_EVER]]
    command.suspend()
    process_bench.host.stop("w1", grace_seconds=0.0)
    assert exited(process_bench.host, "w1").exit_code == -signal.SIGKILL
