"""What does the command line load before it knows what it is to do?"""

from __future__ import annotations

import inspect
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.main import get_command

from concertina.commands.verbs import VERBS, VerbGroup
from concertina.input.plain_values import PlainOrParsed, parse_only_what_needs_it
from concertina.main import app

CODE = "import sys, concertina.main; print(*sys.modules)"


def loaded_by(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_loads_no_verb_and_neither_http_nor_yaml_nor_what_draws() -> None:
    """Each is felt: whoever asks for help, or presses Tab, waits for all that is loaded."""
    loaded = loaded_by(CODE)
    verbs = {name for name in loaded if name.startswith("concertina.commands.")}
    assert verbs == {"concertina.commands.verbs"}
    assert {"httpx", "yaml", "pathspec", "rich", "importlib.metadata"}.isdisjoint(loaded)


def test_a_verb_loads_no_other() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from concertina.main import app;"
        "CliRunner().invoke(app, ['ps', '--help']); print(*sys.modules)"
    )
    loaded = loaded_by(code)
    assert "concertina.commands.inspect" in loaded
    others = {"commands.submitting.submit", "commands.team.gpu_hours", "conversion", "client"}
    assert {f"concertina.{name}" for name in others}.isdisjoint(loaded)


@pytest.mark.parametrize("given", ["", "--columns id -o json --label a=1 --label b=2"])
def test_values_that_are_right_as_they_are_need_no_parser(given: str) -> None:
    """The parser is a library of its own, which takes a third of what `ps` does."""
    code = (
        "import sys; from typer.testing import CliRunner; from concertina.main import app;"
        f"CliRunner().invoke(app, ['ps', *{given.split()}]); print(*sys.modules)"
    )
    loaded = loaded_by(code)
    assert "concertina.client" in loaded  # it came as far as to ask the service
    assert "pydantic" not in loaded


def test_a_typer_that_nobody_has_tried_parses_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    its_own = object()
    monkeypatch.setattr("typer.core.build_runtime_param", its_own)
    monkeypatch.setattr("typer.__version__", "0.30.0")
    parse_only_what_needs_it()
    assert typer.core.build_runtime_param is its_own


class Colour(StrEnum):
    """What may be chosen."""

    RED = "red"
    BLUE = "blue"


def chosen(
    *,
    colour: Colour = Colour.RED,
    names: Annotated[list[str] | None, typer.Option("--name")] = None,
    count: Annotated[int, typer.Option(min=1)] = 3,
    place: Annotated[Path | None, typer.Option(exists=True)] = None,
    upper: Annotated[str, typer.Option(parser=str.upper)] = "a",
    word: str = "w",
) -> None:
    typer.echo(repr((colour, names, count, place, upper, word)))


@pytest.mark.parametrize(
    "given",
    [
        "",
        "--colour blue --name a --name b --count 7 --place . --upper x --word y",
        "--colour green",
        "--count 0",
        "--count many",
        "--place /nowhere",
    ],
)
def test_values_mean_what_they_mean_to_typer(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer import _coercion  # noqa: PLC0415 - its parser is to be loaded for this alone
    from typer.testing import CliRunner  # noqa: PLC0415 - for this alone

    program = typer.Typer(pretty_exceptions_enable=False)
    program.command()(chosen)
    answers = []
    for parser in (_coercion.build_runtime_param, PlainOrParsed):
        monkeypatch.setattr("typer.core.build_runtime_param", parser)
        done = CliRunner().invoke(program, given.split())
        answers.append((done.exit_code, done.output))
    assert answers[0] == answers[1]
    assert answers[0][0] == (0 if not given or "blue" in given else 2)


@pytest.mark.parametrize("name", VERBS)
def test_the_table_says_of_a_verb_what_it_says_of_itself(name: str) -> None:
    group = get_command(app)
    assert isinstance(group, VerbGroup)
    verb = group.loaded(name)
    assert verb.name == name
    said = inspect.cleandoc(verb.help).partition("\n\n")[0]
    assert " ".join(said.split()) == VERBS[name][1]


def test_what_is_mistyped_is_guessed() -> None:
    from typer.testing import CliRunner  # noqa: PLC0415 - for this alone

    done = CliRunner().invoke(app, ["submitt"])
    assert done.exit_code == 2
    assert "submit" in done.output
    assert isinstance(app, typer.Typer)
