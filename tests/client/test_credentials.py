from __future__ import annotations

import stat
from pathlib import Path

import pytest

from concertina.connection import credentials
from concertina.connection.credentials import Credentials
from concertina.errors import BadInput, NotAllowed


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def stored(home: dict[str, str]) -> Path:
    file = credentials.config_file(home)
    credentials.store(Credentials(url="http://stored:1", token="ct_stored"), file)
    return file


def test_what_was_stored_is_loaded(home: dict[str, str]) -> None:
    stored(home)
    assert credentials.load(home) == Credentials(url="http://stored:1", token="ct_stored")


def test_only_the_owner_may_read_the_file(home: dict[str, str]) -> None:
    file = stored(home)
    stored(home)  # over an existing one too
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["credentials.json"]


def test_the_environment_wins_each_variable_for_itself(home: dict[str, str]) -> None:
    stored(home)
    assert credentials.load({**home, "CONCERTINA_URL": "https://env"}) == Credentials(
        url="https://env", token="ct_stored"
    )
    assert credentials.load({**home, "CONCERTINA_TOKEN": "ct_env"}) == Credentials(
        url="http://stored:1", token="ct_env"
    )


def test_without_a_login_it_is_said_how_to_log_in(home: dict[str, str]) -> None:
    with pytest.raises(NotAllowed, match="concertina login"):
        credentials.load(home)
    with pytest.raises(NotAllowed, match="CONCERTINA_TOKEN"):
        credentials.load({**home, "CONCERTINA_URL": "http://x"})


@pytest.mark.parametrize("content", ["{", "[]", "\x00", "12"])
def test_a_damaged_file_is_told_by_name(home: dict[str, str], content: str) -> None:
    file = stored(home)
    file.write_text(content)
    with pytest.raises(BadInput, match=r"credentials\.json"):
        credentials.load(home)


URLS = {
    "http://host:8000/": "http://host:8000",
    "localhost:8000": "http://localhost:8000",
    "https://host/concertina/": "https://host/concertina",
    "http://host/api/v1": "http://host",
    "http://host/api/v1/": "http://host",
}


@pytest.mark.parametrize("url", URLS)
def test_an_address_is_brought_into_one_form(url: str) -> None:
    assert credentials.normalised_url(url) == URLS[url]


@pytest.mark.parametrize(
    "url", ["", "http://", "ftp://host", "://", "http://[x", "http://host:port"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="is not the address"):
        credentials.normalised_url(url)
