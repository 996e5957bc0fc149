"""What becomes of a service process that can have no copier of logs, or one that talks oddly?"""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cluster.docker_host.logs import following
from cluster.docker_host.logs.following import Followers
from cluster.logs.log_files import USUAL

from tests.contract.conftest import until


def test_a_copier_that_cannot_be_started_costs_no_descriptor_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made: list[int] = []
    usual = os.pipe

    def pipe() -> tuple[int, int]:
        made.extend(ends := usual())
        return ends

    def popen(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EAGAIN, "no process left")

    followers = Followers(state_dir=tmp_path, answer_seconds=1.0, bounds=USUAL)
    with monkeypatch.context() as patched:
        patched.setattr(following.os, "pipe", pipe)
        patched.setattr(following.subprocess, "Popen", popen)
        patched.setattr(following, "_RESTART_SECONDS", 0.0)
        assert followers.get_ready() is None
        assert not [one for one in made if Path(f"/proc/self/fd/{one}").exists()]
        assert "no process left" in caplog.text
    monkeypatch.setattr(following, "_RESTART_SECONDS", 0.0)
    assert followers.get_ready() is not None
    followers.close()


def test_what_a_copier_says_that_is_no_report_is_skipped_and_a_new_one_follows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        r"printf '\377\n{}\n[]\n'; "
        """echo '{"container": "c1", "problem": "no room", "is_lost": true}'"""
    )
    usual = subprocess.Popen

    def popen(_: Any, **options: Any) -> Any:
        return usual(("sh", "-c", script), **options)

    monkeypatch.setattr(following, "_RESTART_SECONDS", 0.0)
    followers = Followers(state_dir=tmp_path, answer_seconds=1.0, bounds=USUAL)
    with monkeypatch.context() as patched:
        patched.setattr(following.subprocess, "Popen", popen)
        first = followers.get_ready()
        assert first is not None
        until(lambda: first.heard.is_over)
    assert first.heard.problems == {"c1": ("no room", True)}
    assert followers.get_ready() not in {None, first}
    followers.close()
