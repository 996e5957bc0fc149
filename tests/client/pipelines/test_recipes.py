"""Do the recipes for pipelines do what they promise? Their steps are run as a CI runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest
import yaml
from cluster.logs import log_files
from cluster.logs.log_lines import LineLog
from django.conf import settings
from local_stack.checkout import ROOT
from tenancy.access.keys import tokens
from tenancy.models import Team, TokenScope

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.running_api import RunningApi
from tests.client.test_submitting import finish
from tests.polling import pause

CI: Final = ROOT / "docs" / "ci"
PATIENCE_SECONDS: Final = 240.0  # however busy the machine is
NEEDED: Final = ("curl", "jq")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a CI runs, and the variables of its own that it sets for one run."""

    script: str
    variables: dict[str, str] = field(default_factory=dict)


def github() -> Recipe:
    action = yaml.safe_load((CI / "action.yml").read_text())
    (step,) = action["runs"]["steps"]
    assert (action["runs"]["using"], step["shell"]) == ("composite", "bash")
    named = {
        name: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", at) for name, at in step["env"].items()
    }
    inputs = {name: found[1] for name, found in named.items() if found}
    assert set(inputs.values()) == set(action["inputs"])
    of_inputs = {
        name: str(action["inputs"][one]["default"])
        for name, one in inputs.items()
        if "default" in action["inputs"][one]
    }
    run = {"GITHUB_REPOSITORY": "vision/digits", "GITHUB_RUN_ID": "71", "GITHUB_JOB": "train"}
    return Recipe(script=step["run"], variables={**of_inputs, **run, "GITHUB_ACTION_PATH": str(CI)})


def gitlab() -> Recipe:
    job = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["train"]
    assert job["before_script"] == ["apk add --no-cache curl jq"]
    run = {"CI_PROJECT_ID": "5", "CI_PIPELINE_ID": "71", "CI_JOB_NAME": "train"}
    return Recipe(script="\n".join(job["script"]), variables=run)


def jenkins() -> Recipe:
    (script,) = re.findall(r"^ +sh '(.+)'$", (CI / "Jenkinsfile").read_text(), re.MULTILINE)
    return Recipe(script=script, variables={"BUILD_TAG": "jenkins-digits-71"})


def by_hand() -> Recipe:
    return Recipe(script="sh ci/train.sh job.yaml a-commit")


TRACE: Final = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
RECIPES: Final[dict[str, Callable[[], Recipe]]] = {
    "github": github,
    "gitlab": gitlab,
    "jenkins": jenkins,
    "by hand": by_hand,
}


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A checkout with a job file, on a machine of a CI."""

    folder: Path
    variables: dict[str, str]

    @contextmanager
    def running(self, recipe: Recipe, **more: str) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            ("bash", "-e", "-c", recipe.script),
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], **self.variables, **recipe.variables, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def run(self, recipe: Recipe, **more: str) -> tuple[int, str]:
        with self.running(recipe, **more) as process:
            return ended(process)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, said


@pytest.fixture
def pipeline(api: RunningApi, job_file: Path, tmp_path: Path) -> Pipeline:
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}: apt-get install curl jq")
    (tmp_path / "ci").mkdir()
    shutil.copy(CI / "train.sh", tmp_path / "ci")
    vision = Team.objects.get(name="vision")
    _, key = tokens.issue(team=vision, name="pipeline", scopes=[TokenScope.SUBMIT])
    return Pipeline(
        folder=tmp_path,
        variables={
            "CONCERTINA_URL": api.url,
            "CONCERTINA_TOKEN": key,
            "CONCERTINA_PAUSE_SECONDS": "0.1",
        },
    )


def submitted(process: subprocess.Popen[str]) -> Job:
    """Wait until the pipeline's job is there."""
    began = time.monotonic()
    while (job := Job.objects.first()) is None:
        assert time.monotonic() - began < PATIENCE_SECONDS
        assert process.poll() is None, process.communicate()
        pause(began)
    return job


def write(job: Job, *lines: str) -> None:
    name = f"{job.id}-1-0"
    log = LineLog(log_files.path_of(name, job_id=job.id, state_dir=settings.CONCERTINA.state_dir))
    log.write("stderr", [line.encode() for line in lines])
    log.close()


@pytest.mark.parametrize("name", RECIPES)
def test_a_job_that_fails_fails_the_pipeline_and_a_run_tried_again_submits_nothing(
    name: str, pipeline: Pipeline
) -> None:
    recipe = RECIPES[name]()
    with pipeline.running(recipe) as process:
        job = submitted(process)
        write(job, *(f"line {number}" for number in range(60)), "ValueError: no such file")
        finish(job, JobState.FAILED, message="Its command ended with exit code 1.")
        code, said = ended(process)
    link = f"{pipeline.variables['CONCERTINA_URL']}/jobs/{job.id}"
    assert code == 1, said
    assert "failed  Its command ended with exit code 1." in said
    assert "ValueError: no such file" in said
    assert "line 11\n" in said
    assert "line 10\n" not in said
    assert said.splitlines()[-1] == f"Job {job.id} failed: {link}"
    assert pipeline.variables["CONCERTINA_TOKEN"] not in said
    again, told = pipeline.run(recipe)
    assert (again, told.splitlines()[-1]) == (1, f"Job {job.id} failed: {link}")
    assert Job.objects.count() == 1


@pytest.mark.parametrize(("state", "code"), [(JobState.COMPLETED, 0), (JobState.CANCELLED, 7)])
def test_other_ends_are_told_by_the_exit_codes_of_the_command_line(
    state: JobState, code: int, pipeline: Pipeline
) -> None:
    with pipeline.running(by_hand()) as process:
        finish(submitted(process), state)
        assert ended(process)[0] == code


def test_what_is_refused_is_told_with_what_to_do(pipeline: Pipeline) -> None:
    (pipeline.folder / "job.yaml").write_text("name: digits\ncomand: [python]\n")
    code, said = pipeline.run(by_hand())
    assert (code, "comand: is not a field" in said) == (3, True)
    code, said = pipeline.run(by_hand(), CONCERTINA_TOKEN="ct_unknown")
    assert (code, "unknown, expired or revoked" in said) == (5, True)
    code, said = pipeline.run(by_hand(), CONCERTINA_TOKEN="")
    assert (code != 0, "a token of scope submit" in said) == (True, True)
    nowhere = {"CONCERTINA_URL": "http://127.0.0.1:1", "CONCERTINA_PATIENCE_SECONDS": "1"}
    code, said = pipeline.run(by_hand(), **nowhere)
    assert (code, "could not be reached" in said) == (6, True)
    assert not Job.objects.exists()


def test_a_connection_that_breaks_is_made_again_once_the_job_is_submitted(tmp_path: Path) -> None:
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}: apt-get install curl jq")
    (tmp_path / "job.yaml").write_text("name: digits\n")
    with breaking_off() as (url, asked):
        code = subprocess.run(
            ("sh", CI / "train.sh", "job.yaml", "a-commit"),
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "CONCERTINA_URL": url,
                "CONCERTINA_TOKEN": "ct_any",
                "TRACEPARENT": TRACE,
            },
            check=False,
            timeout=PATIENCE_SECONDS,
        ).returncode
    assert (code, asked) == (0, [f"POST {TRACE}", "GET", "GET"])


@contextmanager
def breaking_off() -> Iterator[tuple[str, list[str]]]:
    """Take a job, hang up on whoever asks for it first, and call it completed from then on."""
    asked: list[str] = []

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(f"POST {self.headers['traceparent']}")
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(201)

        def do_GET(self) -> None:
            asked.append("GET")
            if asked.count("GET") > 1:
                self.answer(200)

        def answer(self, status: int) -> None:
            body = b'{"id": "p9hrj6bt6n", "state": "completed", "message": ""}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


def test_the_workflow_gives_the_action_what_it_needs() -> None:
    action: dict[str, Any] = yaml.safe_load((CI / "action.yml").read_text())
    workflow: dict[str, Any] = yaml.safe_load((CI / "github.yml").read_text())
    *_, step = workflow["jobs"]["train"]["steps"]
    assert step["uses"].endswith("/docs/ci@main")
    needed = {name for name, one in action["inputs"].items() if one.get("required")}
    assert needed <= set(step["with"]) <= set(action["inputs"])
