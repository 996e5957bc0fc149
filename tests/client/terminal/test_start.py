"""What does the command line load before it knows what it is to do?"""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
import typer
from typer.main import get_command

from concertina.commands.verbs import VERBS, VerbGroup
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
