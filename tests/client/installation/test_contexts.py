"""Are several installations kept apart?"""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from tenancy.models import PersonalToken

from concertina.connection import contexts, credentials
from concertina.connection.credentials import Credentials
from concertina.errors import BadInput
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi

PASSWORD = "a long password"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def known(home: dict[str, str], name: str, token: str = "ct_1") -> Path:
    file = contexts.file_of(name, home)
    credentials.store(Credentials(url=f"http://{name}:1", token=token), file)
    return file


def test_a_former_login_is_the_default_context(home: dict[str, str]) -> None:
    known(home, "default")
    assert (contexts.current(home), contexts.names(home)) == ("default", ["default"])
    assert credentials.load(home).url == "http://default:1"


def test_the_one_in_use_counts_and_another_for_once(home: dict[str, str]) -> None:
    known(home, "default")
    file = known(home, "prod")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    contexts.use("prod", home)
    assert credentials.load(home).url == "http://prod:1"
    assert credentials.load({**home, "CONCERTINA_CONTEXT": "default"}).url == "http://default:1"
    assert credentials.load({**home, "CONCERTINA_URL": "http://x"}).url == "http://x"
    contexts.forget("prod", home)
    assert (contexts.current(home), contexts.names(home)) == ("default", ["default"])


@pytest.mark.parametrize("name", ["", "../credentials", "a/b", ".hidden", "x" * 41, "a b"])
def test_what_is_no_name_is_refused(home: dict[str, str], name: str) -> None:
    with pytest.raises(BadInput, match="is no name of a context"):
        contexts.file_of(name, home)


def test_a_context_that_is_not_there_says_which_are(home: dict[str, str]) -> None:
    known(home, "lab")
    with pytest.raises(BadInput, match="There are: lab"):
        credentials.load({**home, "CONCERTINA_CONTEXT": "prod"})
    with pytest.raises(BadInput, match="There are: lab"):
        contexts.use("prod", home)
    every = {"CONCERTINA_URL": "http://x", "CONCERTINA_TOKEN": "ct_x"}
    assert credentials.load({**home, "CONCERTINA_CONTEXT": "prod", **every}).url == "http://x"


def test_installations_are_added_used_listed_and_removed(
    stranger: CommandLine, api: RunningApi, token_of: dict[str, str]
) -> None:
    assert "None yet" in stranger("context", "ls").err
    assert stranger("context", "add", "lab", api.url).exit_code == 0
    assert stranger("context", "add", "lab", api.url).exit_code == 2
    said = stranger("--context", "lab", "ps")
    assert (said.exit_code, "Not logged in" in said.err) == (5, True)
    login = stranger("login", "--context", "lab", "--token", token_of["vision"], "-o", "json")
    assert login.document["stored_in"].endswith("contexts/lab.json")
    assert stranger("login", api.url, "--token", token_of["language"], "--context", "other").out
    assert stranger("whoami", "-o", "json").document["context"] == "other"
    mine = stranger("--context", "lab", "whoami", "-o", "json").document
    assert (mine["teams"], mine["context"]) == (["vision"], "lab")
    assert stranger("context", "use", "lab").out == f"lab: {api.url}\n"
    listed = stranger("context", "ls", "-o", "json").document
    assert [(one["name"], one["is_current"]) for one in listed] == [("lab", True), ("other", False)]
    assert stranger("context", "rm", "other").out == "Forgot other.\n"
    assert "* " in stranger("context", "ls").out
    assert stranger("--context", "other", "ps").exit_code == 2
    assert stranger("--context", "no name", "ps").exit_code == 2


def test_logging_out_keeps_the_address_and_removing_revokes_ones_own_token(
    stranger: CommandLine, api: RunningApi
) -> None:
    User.objects.create_user("ada", password=PASSWORD)
    login = ("login", api.url, "--context", "lab", "--as", "ada")
    assert stranger(*login, stdin=PASSWORD).exit_code == 0
    assert "Its address is kept. Its token is revoked." in stranger("logout").out
    assert stranger("login", "--as", "ada", stdin=PASSWORD).exit_code == 0
    removed = stranger("context", "rm", "lab", "-o", "json").document
    assert removed == {"forgotten": "lab", "revoked": True}
    assert not PersonalToken.objects.filter(revoked_at=None).exists()
    assert "Say which service" in stranger("login", "--as", "ada", stdin=PASSWORD).err


def test_a_service_that_is_away_does_not_keep_its_context(
    stranger: CommandLine, tmp_path: Path
) -> None:
    home = {"XDG_CONFIG_HOME": stranger.environment["XDG_CONFIG_HOME"]}
    credentials.store(
        Credentials(url="http://127.0.0.1:9", token="cp_1"), contexts.file_of("gone", home)
    )
    removed = stranger("context", "rm", "gone")
    assert (removed.exit_code, "Its token still holds" in removed.err) == (0, True)
    assert contexts.names(home) == []


@pytest.mark.parametrize("content", ["{", "[]", '{"url": "http://a:b@c", "token": "cp_1"}'])
def test_a_damaged_one_hides_no_other_and_can_be_removed(
    stranger: CommandLine, content: str
) -> None:
    assert stranger("context", "add", "lab", "http://lab:1").exit_code == 0
    home = {"XDG_CONFIG_HOME": stranger.environment["XDG_CONFIG_HOME"]}
    contexts.file_of("broken", home).write_text(content)
    listed = stranger("context", "ls", "-o", "json").document
    assert [one["name"] for one in listed] == ["broken", "lab"]
    removed = stranger("context", "rm", "broken")
    assert (removed.exit_code, contexts.names(home)) == (0, ["lab"])
    assert "cp_1" not in removed.out + removed.err
    assert stranger("context", "use", "lab").exit_code == 0


@pytest.mark.parametrize("content", ["", "../credentials\n"])
def test_what_names_no_context_says_where_it_stands_and_what_to_do(
    home: dict[str, str], content: str
) -> None:
    known(home, "lab")
    contexts.use("lab", home)
    pointer = contexts.home(home) / "context"
    pointer.write_text(content)
    with pytest.raises(BadInput, match=r"/context names no context.*context use.*There are: lab"):
        contexts.current(home)
    contexts.use("lab", home)
    assert contexts.current(home) == "lab"
    pointer.write_text(content)
    contexts.forget("lab", home)
    assert contexts.names(home) == []


def test_what_cannot_be_written_is_said(home: dict[str, str]) -> None:
    contexts.home(home).write_text("a file where the folder should be")
    with pytest.raises(BadInput, match="cannot be written"):
        known(home, "lab")


def test_one_that_is_kept_elsewhere_than_the_default_is_in_a_closed_folder(
    home: dict[str, str],
) -> None:
    file = known(home, "lab")
    contexts.use("lab", home)
    for one in (file.parent, contexts.home(home)):
        assert stat.S_IMODE(one.stat().st_mode) == 0o700
    written = [path for path in contexts.home(home).rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    assert len(written) == 2


@pytest.mark.parametrize(
    "url", ["http://ada:secret@host:1", "ada:secret@host", "http:/ada:secret@h"]
)
def test_an_address_has_no_password_in_it_and_none_is_repeated(
    stranger: CommandLine, url: str
) -> None:
    refused = stranger("context", "add", "lab", url)
    assert (refused.exit_code, "no name and no password" in refused.err) == (2, True)
    assert "secret" not in refused.err
    assert stranger("context", "ls", "-o", "json").document == []
