"""Does Ctrl-C end the command at once, and say how far it was?"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autoscaler.simulation.cli import command
from autoscaler.simulation.cli.__main__ import main
from autoscaler.simulation.cli.parallel import SimulationsInterrupted, run_all
from autoscaler.simulation.engine.comparison.candidates import candidates
from tests.simulation.workloads import job, settings, trace

TRACE = trace(job("a", samples=6_000), job("b", at=500.0, samples=6_000))
POLICIES = candidates(settings(), ("throughput", "static"))


def press_ctrl_c_at(label: str) -> None:
    if label == "static":
        raise KeyboardInterrupt


def test_what_was_done_before_is_kept() -> None:
    with pytest.raises(SimulationsInterrupted) as interrupted:
        run_all(TRACE, POLICIES, processes=1, tell=lambda label, _: press_ctrl_c_at(label))
    assert [run.label for run in interrupted.value.runs] == ["throughput"]


def test_no_process_is_left() -> None:
    with pytest.raises(SimulationsInterrupted):
        run_all(TRACE, POLICIES, processes=2, tell=lambda label, _: press_ctrl_c_at(label))
    assert multiprocessing.active_children() == []


def test_a_terminal_slower_than_the_simulations_is_told_of_every_end() -> None:
    ends: list[str] = []

    def tell(label: str, sign: object) -> None:
        time.sleep(0.5)  # on all but very busy machines results are there before
        if sign is None:
            ends.append(label)

    runs = run_all(TRACE, POLICIES, processes=2, tell=tell)
    assert sorted(ends) == sorted(run.label for run in runs) == ["static", "throughput"]


def test_it_is_heeded_while_the_command_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    def press_ctrl_c(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "app", press_ctrl_c)
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == command.INTERRUPTED == 130


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_command_says_how_far_it_was_and_leaves_with_130(
    tmp_path: Path, processes: str
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("time,duration,gpus\n" + "".join(f"{60 * n},600000,1\n" for n in range(10_000)))
    arguments = ("--trace", str(log), "--tick", "10", "--processes", processes)
    with subprocess.Popen(
        (sys.executable, "-P", "-m", "autoscaler.simulation.cli", *arguments),
        cwd=Path(__file__).parents[3],
        env=os.environ | {"PYTHONPATH": "."},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal sends it to the whole group
    ) as running:
        assert running.stderr is not None
        first = running.stderr.readline()
        os.killpg(running.pid, signal.SIGINT)
        output, errors = running.communicate()
    assert "10,000 jobs" in first
    assert running.returncode == 130
    assert output == ""
    assert errors.startswith("Stopped ")
    assert "Traceback" not in errors
