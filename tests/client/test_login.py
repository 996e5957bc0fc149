from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Final

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from tenancy.access.keys import device_logins, tokens
from tenancy.models import DeviceLogin, Membership, PersonalToken, Team, Token

from concertina.client import Client
from concertina.commands.login import shows_windows
from concertina.errors import NotAllowed
from tests.client.command_line import CommandLine
from tests.client.manual_clock import ManualClock
from tests.client.running_api import RunningApi

PASSWORD: Final = "a long password"


@pytest.fixture
def ada(token_of: dict[str, str]) -> User:
    made = User.objects.create_user("ada", password=PASSWORD)
    Membership.objects.create(user=made, team=Team.objects.get(name="vision"), role="member")
    return made


def test_a_login_is_remembered(
    stranger: CommandLine, api: RunningApi, token_of: dict[str, str], tmp_path: Path
) -> None:
    ended = stranger("login", api.url, "--token", token_of["vision"])
    assert ended.exit_code == 0
    assert "vision" in ended.out
    assert token_of["vision"] not in ended.out
    file = tmp_path / "config" / "concertina" / "credentials.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stranger("ps").exit_code == 0


def test_who_logs_in_is_told_that_jobs_own_the_service(
    stranger: CommandLine, api: RunningApi, token_of: dict[str, str]
) -> None:
    ended = stranger("login", api.url, "--token", token_of["vision"])
    assert ended.exit_code == 0
    assert "CONCERTINA_TEAM_USERS is off" in ended.err
    ended = stranger("login", api.url, "--token", token_of["vision"], "-o", "json")
    assert "CONCERTINA_TEAM_USERS is off" in ended.document["notices"][0]


def test_who_logs_in_with_a_password_has_a_token_of_their_own_until_they_log_out(
    stranger: CommandLine, api: RunningApi, ada: User, tmp_path: Path
) -> None:
    """The password goes nowhere; a second login from here ends the token of the first."""
    file = tmp_path / "config" / "concertina" / "credentials.json"
    for made in (1, 2):
        ended = stranger("login", api.url, "--as", "ada", "--name", "here", stdin=PASSWORD)
        assert ended.exit_code == 0, ended.err
        assert "as ada. Sees: language, vision" in ended.out
        assert PersonalToken.objects.count() == made
        assert PersonalToken.objects.filter(revoked_at=None).count() == 1
    assert PASSWORD not in file.read_text()
    assert stranger("whoami", "-o", "json").document["person"] == "ada"
    assert stranger("members", "ls").exit_code == 0

    ended = stranger("logout", "-o", "json")
    assert (ended.exit_code, ended.document["revoked"]) == (0, True), ended.err
    assert not file.exists()
    assert not PersonalToken.objects.filter(revoked_at=None).exists()
    again = stranger("logout")
    assert (again.exit_code, "Nobody is logged in" in again.err) == (5, True)


def test_a_wrong_password_and_a_scope_that_is_not_theirs_are_told(
    stranger: CommandLine, api: RunningApi, ada: User, tmp_path: Path
) -> None:
    wrong = stranger("login", api.url, "--as", "ada", stdin="not it")
    assert (wrong.exit_code, "password is wrong" in wrong.err) == (5, True)
    admin = stranger("login", api.url, "--as", "ada", "--scope", "admin", stdin=PASSWORD)
    assert (admin.exit_code, "Only admins" in admin.err) == (5, True)
    assert not (tmp_path / "config").exists()


def test_a_login_that_is_refused_leaves_the_former_one_as_it_is(
    stranger: CommandLine, api: RunningApi, ada: User
) -> None:
    stranger("login", api.url, "--as", "ada", stdin=PASSWORD)
    refused = stranger("login", api.url, "--as", "ada", "--scope", "admin", stdin=PASSWORD)
    assert refused.exit_code == 5
    assert stranger("ps").exit_code == 0


def test_a_teams_token_outlives_a_logout(
    stranger: CommandLine, api: RunningApi, token_of: dict[str, str]
) -> None:
    stranger("login", api.url, "--token", token_of["vision"])
    ended = stranger("logout", "-o", "json")
    assert (ended.exit_code, ended.document["revoked"]) == (0, False), ended.err
    assert stranger("login", api.url, "--token", token_of["vision"]).exit_code == 0


@pytest.mark.parametrize("token", ["ct_wrong", "x", "ct_" + "a" * 4000, "ü"])
def test_a_wrong_token_is_not_remembered(
    stranger: CommandLine, api: RunningApi, tmp_path: Path, token: str
) -> None:
    assert stranger("login", api.url, "--token", token).exit_code == 5
    assert not (tmp_path / "config").exists()


def test_without_a_login_nothing_is_asked(stranger: CommandLine) -> None:
    ended = stranger("ps")
    assert ended.exit_code == 5
    assert "concertina login URL" in ended.err
    assert stranger("ps", "-o", "json").error["code"] == "not_logged_in"


def test_without_a_terminal_nobody_is_asked_to_say_yes(
    stranger: CommandLine, api: RunningApi
) -> None:
    ended = stranger("login", api.url)
    assert ended.exit_code == 2
    assert "--token" in ended.err
    assert not DeviceLogin.objects.exists()


def test_whoever_says_yes_in_a_browser_is_logged_in(
    stranger: CommandLine, api: RunningApi, ada: User
) -> None:
    """Nothing secret is typed or shown here; the address bears no code."""
    with stranger.running("login", api.url, "--no-browser", "--name", "here") as (running, end):
        running.wait_until_said(f"{api.url}/device\n")
        code = code_in("".join(running.err))
        assert device_logins.look_up(ada, code).name == "here"
        device_logins.confirm(ada, code, longest_days=365)
        ended = end()
    assert ended.exit_code == 0, ended.err
    assert "as ada. Sees: language, vision" in ended.out
    assert "cp_" not in ended.out + ended.err
    assert PersonalToken.objects.get().name == "here"
    assert stranger("whoami", "-o", "json").document["person"] == "ada"


def test_whoever_is_refused_in_a_browser_is_not_logged_in(
    stranger: CommandLine, api: RunningApi, ada: User, tmp_path: Path
) -> None:
    with stranger.running("login", api.url, "--no-browser") as (running, end):
        running.wait_until_said("/device\n")
        device_logins.refuse(ada, code_in("".join(running.err)))
        ended = end()
    assert (ended.exit_code, "refused in the browser" in ended.err) == (5, True), ended.err
    assert not (tmp_path / "config").exists()


def test_nobody_waits_for_longer_than_a_code_is_good_for(api: RunningApi, ada: User) -> None:
    with Client(api.url, "", clock=ManualClock()) as client:
        started = client.device_logins.start("here", days=1, scopes=["read"])
        DeviceLogin.objects.update(expires_at=timezone.now())
        with pytest.raises(NotAllowed, match="Nobody confirmed") as refusal:
            client.device_logins.wait(started)
    assert refusal.value.code == "expired_token"


def test_no_browser_of_text_takes_the_terminal() -> None:
    """On a machine without a screen `webbrowser` finds `lynx` and the like."""
    for screenless in ({"TERM": "xterm"}, {"DISPLAY": ""}):
        assert not shows_windows("linux", screenless)
    for named in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        assert shows_windows("linux", {named: "x"})
    assert shows_windows("darwin", {})


def code_in(said: str) -> str:
    found = re.search("Your code: ([A-Z]{4}-[A-Z]{4})", said)
    assert found is not None, said
    return found[1]


def test_a_token_that_was_withdrawn_is_of_no_use(concertina: CommandLine) -> None:
    for token in Token.objects.all():
        tokens.revoke(token)
    ended = concertina("ps")
    assert ended.exit_code == 5
    assert "Log in again" in ended.err


def test_an_address_where_nothing_listens_is_told_after_some_tries(stranger: CommandLine) -> None:
    ended = stranger("login", "http://127.0.0.1:9", "--token", "ct_x")
    assert ended.exit_code == 6
    assert "http://127.0.0.1:9 cannot be reached" in ended.err
    assert ended.err.count("Trying again in") >= 3


def test_an_address_of_something_else_is_told_at_once(
    stranger: CommandLine, api: RunningApi
) -> None:
    ended = stranger("login", f"{api.url}/admin", "--token", "ct_x")
    assert ended.exit_code == 6
    assert "does not answer like Concertina" in ended.err


@pytest.mark.parametrize("arguments", [["frobnicate"], ["ps", "--frob"], ["ps", "--limit", "0"]])
def test_a_command_line_that_means_nothing_is_usage(
    stranger: CommandLine, arguments: list[str]
) -> None:
    assert stranger(*arguments).exit_code == 2


def test_help_tells_the_exit_codes(stranger: CommandLine) -> None:
    ended = stranger("--help")
    assert ended.exit_code == 0
    assert "cancelled" in ended.out
