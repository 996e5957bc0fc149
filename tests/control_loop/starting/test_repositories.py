"""Does a job wait for its code of a git repository, and keep the commit for its whole life?"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from storage.data.destinations import Destination
from storage.data.rules import DataRules
from storage.models import CodeSnapshot
from tenancy.models import Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import variables

from jobs.commands import control
from jobs.models import Event, Job
from tests.control_loop.starting.ticking import ticking
from tests.control_loop.world import World, fresh, live_workers, states
from tests.git_server import GitServer, git_server

PASSWORD = "much-secret"


@pytest.fixture
def server(world: World, tmp_path: Path) -> Iterator[GitServer]:
    """A repository that takes the password in secret `forge` of team vision."""
    (tmp_path / "repositories").mkdir()
    with git_server(tmp_path / "repositories") as found:
        login = base64.b64encode(f"git:{PASSWORD}".encode()).decode()
        found.password = f"Basic {login}"
        world.data_rules = DataRules(
            state_dir=world.state_dir, networks=(Destination.parse(f"127.0.0.1:{found.port}"),)
        )
        team_secrets.put(
            team=Team.objects.get(name="vision"),
            name="forge",
            content=variables({"GIT_PASSWORD": PASSWORD, "OTHER": "x"}),
            by="ada",
        )
        yield found
        world.code_arrivals.fetches.close()


def of_repository(world: World, server: GitServer, name: str, **more: Any) -> Job:
    git = {"url": server.url("code.git"), "secret": "forge", **more}
    job = world.job(name=name, code={"git": git})
    world.wish(job, 1)
    return job


def test_a_job_waits_for_its_code_and_keeps_the_commit(world: World, server: GitServer) -> None:
    commit = server.commit("code.git", {"src/train.py": "print(1)"})
    jobs = [of_repository(world, server, name, path="src") for name in ("first", "second")]
    lost = of_repository(world, server, "lost", ref="nope")
    unnamed = of_repository(world, server, "unnamed", secret="")
    world.tick()
    waiting = fresh(jobs[0])
    assert (waiting.state, waiting.reason) == ("queued", "preparing")
    assert waiting.message == "Its code is fetched from 127.0.0.1."
    ticking(world, lambda: all(states(job) for job in (*jobs, lost, unnamed)))

    snapshot = CodeSnapshot.objects.get()
    for job in map(fresh, jobs):
        assert (states(job), job.code) == (["starting"], snapshot.digest)
        code = job.resolved_spec["code"]
        assert (code["digest"], code["git"]["commit"]) == (snapshot.digest, commit)
        assert (code["git"]["branch"], code["git"]["url"]) == ("main", server.url("code.git"))
        (worker,) = live_workers(job)
        launch = world.host.launch_of(worker)
        (mount,) = (one for one in launch.mounts if str(one.source) == launch.workdir)
        assert not mount.is_writable
        assert (Path(mount.source) / "train.py").read_text() == "print(1)"
        assert not {"GIT_PASSWORD", "OTHER"} & {*launch.env, *launch.secret_env}
        said = Event.objects.filter(job=job, kind="preparing").values_list("message", flat=True)
        assert f"Its code is commit {commit[:10]} of {server.url('code.git')}." in said
    for job, why in ((lost, "no branch or tag 'nope'. It has main."), (unnamed, "who we are")):
        assert (fresh(job).state, fresh(job).reason) == ("failed", "code_unavailable")
        assert why in fresh(job).message
    left = world.state_dir / "code" / str(snapshot.team_id) / ".uploads"
    assert {path.name for path in left.glob("git-*/*")} == {"status"}, "of those that failed"


def test_nothing_is_left_of_a_fetch_that_nobody_wants_any_more(
    world: World, server: GitServer
) -> None:
    server.commit("code.git", {"train.py": "print(1)"})
    job = of_repository(world, server, "first")
    world.tick()
    uploads = world.state_dir / "code" / str(job.team_id) / ".uploads"
    assert len(list(uploads.glob("git-*"))) == 1
    control.cancel(job_id=job.id, actor="ada")
    world.tick()
    assert not list(uploads.glob("git-*"))
    assert fresh(job).state == "cancelled"


def test_a_job_whose_secret_is_gone_or_whose_team_is_full_says_so(
    world: World, server: GitServer
) -> None:
    job = of_repository(world, server, "first")
    team_secrets.Secret.objects.all().delete()
    world.tick()
    assert (fresh(job).state, fresh(job).reason) == ("failed", "code_unavailable")
    assert fresh(job).message.startswith("Secret forge of team vision was deleted.")
    CodeSnapshot.objects.create(
        team=job.team,
        digest="0" * 64,
        files=1,
        bytes=20 << 30,
        created_by="a",
        used_at=world.clock(),
    )
    other = of_repository(world, server, "other", secret="")
    world.tick()
    assert fresh(other).message.startswith("Team vision keeps 20480 MiB of code")
