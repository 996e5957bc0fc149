"""Does `concertina-simulate` answer, with numbers or with what to change?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from autoscaler.simulation.cli.command import app
from tests.extension import install_example, policies_found_anew

SMALL = ("--jobs", "4", "--gpus", "8", "--mix", "kinds", "--tick", "60")


def simulate(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_two_policies_stand_side_by_side() -> None:
    result = simulate(*SMALL, "--policy", "throughput", "--policy", "static", "--processes", "1")
    assert result.exit_code == 0, result.output
    header, *rows = result.stdout.splitlines()
    assert "throughput" in header
    assert "static" in header
    assert any(row.startswith("makespan") for row in rows)


def test_processes_change_nothing_but_the_time_it_takes() -> None:
    def figures(processes: str) -> list[dict[str, object]]:
        result = simulate(*SMALL, "--json", "--processes", processes)
        runs: list[dict[str, object]] = json.loads(result.stdout)["runs"]
        return [{k: v for k, v in run.items() if "decision" not in k} for run in runs]

    assert figures("1") == figures("2")


def test_failing_nodes_cost_time() -> None:
    def makespan(*failures: str) -> float:
        result = simulate(*SMALL, "--json", "--policy", "throughput", *failures)
        seconds: float = json.loads(result.stdout)["runs"][0]["makespan_seconds"]
        return seconds

    assert makespan("--node-failures", "0.5") > makespan()


def test_a_job_may_begin_with_what_the_last_run_of_its_team_measured(tmp_path: Path) -> None:
    """The second job of each team; with a team of its own it has to measure for itself."""

    def rescales(second: str, knowledge: str) -> float:
        trace = tmp_path / "twice.csv"
        trace.write_text(
            "name,team,submitted_at,profile,samples,max_workers\n"
            "first,vision,0,bert-squad,50000,8\n"
            f"second,{second},90000,bert-squad,50000,8\n"
        )
        options = ("--gpus", "8", "--restart", "--policy", "completion_time", "--json")
        result = simulate("--trace", str(trace), *options, "--knowledge", knowledge)
        assert result.exit_code == 0, result.output
        changes: float = json.loads(result.stdout)["runs"][0]["rescales_per_job"]
        return changes

    assert rescales("vision", "earlier_runs") < rescales("vision", "measured")
    assert rescales("language", "earlier_runs") == rescales("vision", "measured")


def test_the_report_is_written_where_it_is_being_started(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    result = simulate(*SMALL, "--policy", "completion_time", "--report", str(report))
    assert result.exit_code == 0, result.output
    assert "Workers of each job under completion_time" in report.read_text()


def test_a_recording_is_recognised_by_its_columns(tmp_path: Path) -> None:
    philly = tmp_path / "philly.csv"
    philly.write_text("submit_time,duration,gpus,user\n0,600,1,ann\n60,900,2,bob\n")
    pollux = tmp_path / "pollux.csv"
    pollux.write_text("time,application,num_replicas\n0,ncf,1\n")
    own = tmp_path / "own.csv"
    own.write_text("name,submitted_at,profile,samples,pool\na,0,balanced,1000,elsewhere\n")
    for path, jobs in ((philly, 2), (pollux, 1), (own, 1)):
        result = simulate("--trace", str(path), "--json", "--policy", "throughput", "--gpus", "8")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["runs"][0]["done"] == jobs


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("--policy", "nonsense"), "use one of completion_time"),
        (("--policy", "static", "--policy", "static"), "name each once"),
        (("--trace", "/nowhere.csv"), "/nowhere.csv cannot be read"),
        (("--policy", "fixed_batch:batch=huge"), "min, max, random"),
        (("--trace", "/"), "/ cannot be read"),
        (("--stall", "inf"), "--stall"),
        (("--tick", "nan"), "--tick"),
        (("--horizon", "0"), "--horizon"),
        (("--knowledge", "guessed"), "earlier_runs"),
        (("--load", "inf"), "--load"),
        (("--gpus", "2000000"), "--gpus"),
        (("--report", "/nowhere/at/all.html"), "create it first"),
        (("--report", "/"), "name a file"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_what_to_change(
    arguments: tuple[str, ...], remedy: str
) -> None:
    result = simulate(*arguments)
    assert result.exit_code == 2
    assert remedy in result.output


HEADER = "name,submitted_at,profile,samples\n"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty"),
        (HEADER.encode(), "no jobs"),
        (b"eggs,milk\n6,1\n", "Looked for"),
        (bytes(range(256)), "not text"),
        (HEADER.encode() + b"a,0,balanced,-5\n", "row 2, column samples: '-5'"),
        (HEADER.encode() + b"a,inf,balanced,5\n", "row 2, column submitted_at: 'inf'"),
        (HEADER.encode() + b"a,0,nonsense,5\n", "expected one of balanced"),
        (HEADER.encode() + b"a,0,balanced,5\n" * 2, "two jobs"),
        (HEADER.encode() + b"a" * 200_000, "line 2"),
        (b'{"format": "concertina-trace"', "not JSON"),
        (b'{"format": "concertina-trace", "version": 1}', "no jobs"),
        (
            b'{"format": "concertina-trace", "version": 1, "jobs": [%s]}'
            % b'{"submitted_at": NaN, "name": "a", "team": "t", "pool": "p", '
            b'"profile": "balanced", "samples": 5}',
            "job 1: submitted_at is nan; expected a number",
        ),
    ],
)
def test_a_file_that_is_no_recording_says_what_is_wrong(
    tmp_path: Path, content: bytes, what: str
) -> None:
    path = tmp_path / "recording"
    path.write_bytes(content)
    result = simulate("--trace", str(path))
    assert result.exit_code == 2
    assert what in " ".join(result.output.split())
    assert "docs/planning/traces.md" in result.output


def replayed(*arguments: str) -> int:
    result = simulate(*arguments, "--json", "--policy", "throughput", "--gpus", "8")
    assert result.exit_code == 0, result.output
    done: int = json.loads(result.stdout)["runs"][0]["done"]
    return done


def test_a_part_of_a_trace_is_replayed(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    rows = "".join(f"{1800 * number},600,1\n" for number in range(20))
    log.write_text(f"time,duration,gpus\n{rows}0,600,0\n")
    assert replayed("--trace", str(log)) == 20
    assert replayed("--trace", str(log), "--from", "1", "--until", "3") == 4
    assert replayed("--trace", str(log), "--jobs", "7") == 7
    assert 0 < replayed("--trace", str(log), "--sample", "0.5") < 20
    result = simulate("--trace", str(log), "--jobs", "7", "--policy", "throughput")
    assert "20 jobs; left out 1 that used no GPU." in result.stderr
    assert "Of them 7 are replayed." in result.stderr


def test_a_coarser_tick_that_was_chosen_is_told_and_one_that_was_asked_for_is_kept(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.csv"
    log.write_text(f"time,duration,gpus\n0,600,1\n{11 * 86_400},600,1\n")
    arguments = ("--trace", str(log), "--policy", "throughput")
    assert "Plans are made every 2 min" in simulate(*arguments).stderr
    assert "Plans are made" not in simulate(*arguments, "--tick", "60").stderr


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("big,0,balanced,9,16", "Job big can never end under throughput. Cannot start: its"),
        ("long,0,balanced,1e17,1", "years on the whole cluster. Correct it, or stop"),
    ],
)
def test_a_job_that_can_never_end_is_refused_at_the_beginning(
    tmp_path: Path, row: str, why: str
) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text(f"name,submitted_at,profile,samples,min_workers\n{row}\n")
    result = simulate("--trace", str(trace), "--gpus", "8", "--policy", "throughput")
    assert result.exit_code == 2
    assert why in result.output


def test_a_part_without_a_job_is_refused_with_when_there_are_some(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("time,duration,gpus\n0,600,1\n7200,600,1\n")
    result = simulate("--trace", str(log), "--from", "9")
    assert result.exit_code == 2
    assert "its 2 jobs come from hour 0.0 to hour 2.0" in result.output


def test_jobs_that_do_not_fit_can_be_dropped() -> None:
    result = simulate(
        *("--jobs", "20", "--gpus", "1", "--mix", "kinds", "--load", "20", "--tick", "60"),
        *("--admission", "dropping", "--policy", "throughput", "--json"),
    )
    (run,) = json.loads(result.stdout)["runs"]
    assert run["dropped"] > 0
    assert run["dropped"] + run["done"] + run["backlog"] == 20


def test_a_policy_of_an_extension_can_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with policies_found_anew():
        install_example(tmp_path, monkeypatch)
        policies = ("--policy", "thrifty:least_share=0.5", "--policy", "throughput")
        result = simulate(*SMALL, *policies, "--processes", "2", "--json")
    assert result.exit_code == 0, result.output
    assert [run["done"] for run in json.loads(result.stdout)["runs"]] == [4, 4]
