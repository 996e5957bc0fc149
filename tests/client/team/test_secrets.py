from __future__ import annotations

from pathlib import Path

import pytest
from tenancy.models import Team
from tenancy.secrets import team_secrets

from tests.client.command_line import CommandLine, Ending

VALUE = "canary-52ac"


def environment(name: str) -> dict[str, str]:
    return dict(team_secrets.environment_of(Team.objects.get(name="vision"), [name]))


def set_one(concertina: CommandLine, *more: str | Path, stdin: str = f"{VALUE}\n") -> Ending:
    return concertina("secrets", "set", "wandb", *more, stdin=stdin)


def test_a_secret_comes_through_a_pipe_and_its_value_is_never_shown(
    concertina: CommandLine,
) -> None:
    done = set_one(concertina, "WANDB_API_KEY")
    assert (done.exit_code, done.out) == (0, "Secret wandb is set: WANDB_API_KEY.\n")
    assert environment("wandb") == {"WANDB_API_KEY": VALUE}
    shown = concertina("secrets", "list")
    assert "WANDB_API_KEY" in shown.out
    assert "vision/tests" in shown.out
    document = concertina("secrets", "list", "--team", "vision", "-o", "json").document
    assert document[0]["variables"] == ["WANDB_API_KEY"]
    for ending in (done, shown):
        assert VALUE not in ending.out + ending.err


def test_a_file_has_one_value_or_a_line_for_each_variable(
    concertina: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "values"
    file.write_text("# of the cluster\n\nA=1\nB= two = 2 \n")
    assert set_one(concertina, "--file", file).exit_code == 0
    assert environment("wandb") == {"A": "1", "B": " two = 2 "}
    assert set_one(concertina, "WHOLE", "-f", file).exit_code == 0
    assert environment("wandb") == {"WHOLE": file.read_text().removesuffix("\n")}


def test_the_login_of_a_registry_is_kept(concertina: CommandLine) -> None:
    login = ("--registry", "registry.example.com", "--username", "robot")
    assert set_one(concertina, *login).exit_code == 0
    kept = team_secrets.registry_login_of(Team.objects.get(name="vision"), "registry.example.com")
    assert kept is not None
    assert (kept.username, kept.password) == ("robot", VALUE)
    assert "registry.example.com" in concertina("secrets", "list").out


REFUSED: dict[str, tuple[list[str], str, str]] = {
    "a value among the arguments": ([f"A={VALUE}"], "", "do not belong on the command line"),
    "one input for two variables": (["A", "B"], VALUE, "lines like NAME=value"),
    "a line without a name": ([], f"A=1\n{VALUE}\n", "Line 2 is not like NAME=value"),
    "a variable twice": ([], f"A={VALUE}\nA={VALUE}\n", "Line 2 sets a variable again"),
    "a registry without a user": (["--registry", "r.example.com"], VALUE, "--username together"),
    "a file that is not there": (["A", "-f", "/nowhere/x"], "", "cannot be read"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_read_is_usage_and_not_repeated(
    concertina: CommandLine, sentence: str
) -> None:
    arguments, stdin, said = REFUSED[sentence]
    ended = set_one(concertina, *arguments, stdin=stdin)
    assert ended.exit_code == 2
    assert said in " ".join(ended.err.split())
    assert VALUE not in ended.out + ended.err


def test_what_the_service_refuses_is_told_without_the_value(concertina: CommandLine) -> None:
    ended = set_one(concertina, "CONCERTINA_TOKEN")
    assert ended.exit_code == 3
    assert "is one the platform sets itself" in ended.err
    assert VALUE not in ended.err


def test_a_secret_is_deleted_once(concertina: CommandLine) -> None:
    set_one(concertina, "A")
    assert concertina("secrets", "delete", "wandb").exit_code == 0
    assert concertina("secrets", "delete", "wandb").exit_code == 4
    assert "No secrets yet" in concertina("secrets", "list").err
    assert concertina("secrets", "list", "--team", "language").exit_code == 4
