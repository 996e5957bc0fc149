"""Does the documentation say what the code does?"""

from __future__ import annotations

import re
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from sweeps import specs
from sweeps.search.terms import ParameterDraw, SweepTerms
from typer.main import get_command

from concertina import exit_codes
from concertina.code.spec import folder_of
from concertina.commands.verbs import VERBS
from concertina.input import job_files
from concertina.main import app
from jobs.spec import job_spec
from jobs.spec.arrays.terms import ArraySpec

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.parent.name for path in (ROOT / "docs").glob("*/README.md"))
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
LINKED_PAGES = [*PAGES, *sorted(path.name for path in ROOT.glob("*.md"))]


def fields_of(model: type[BaseModel], prefix: str = "") -> set[str]:
    names = set()
    for name, field in model.model_fields.items():
        nested = nested_model(field.annotation)
        names |= fields_of(nested, f"{prefix}{name}.") if nested else {prefix + name}
    return names


def nested_model(annotation: Any) -> type[BaseModel] | None:
    """The model of a field that holds one, or a list of them, or may be left out."""
    kinds = [kind for kind in get_args(annotation) or [annotation] if kind is not NoneType]
    only = kinds[0] if len(kinds) == 1 else None
    only = getattr(only, "__origin__", only)  # of one that is annotated
    return only if isinstance(only, type) and issubclass(only, BaseModel) else None


def documented_fields(page: str = "docs/jobs/job-spec.md") -> set[str]:
    text = (ROOT / page).read_text()
    return set(re.findall(r"^\| `([A-Za-z_.]+)` \|", text, re.MULTILINE))


def test_the_field_table_has_every_field_of_the_spec_and_no_other() -> None:
    parents = {"batch.global_batch_size", "depends_on"}  # may be a bare number or name too
    fields = fields_of(job_spec.JobSpec) | fields_of(ArraySpec, "array.")
    assert documented_fields() - parents == fields


def test_the_page_about_sweeps_has_every_field_of_one_and_no_other() -> None:
    fields = fields_of(SweepTerms, "sweep.") | fields_of(ParameterDraw, "sweep.parameters.NAME.")
    assert documented_fields("docs/jobs/sweeps.md") - {"sweep.asha"} == fields


def as_sent(document: dict[str, Any]) -> dict[str, Any]:
    """A folder of code becomes a snapshot on the way."""
    code = {"digest": "0" * 64} if folder_of(document, None) else document.get("code")
    return {**document, "code": code}


@pytest.mark.parametrize("page", PAGES)
def test_yaml_in_the_documentation_is_a_valid_spec(page: str) -> None:
    text = (ROOT / page).read_text()
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        document = job_files.parse(block, page).spec
        if "command" in document:
            for one in specs.all_of(as_sent(document), {}):
                job_spec.parse(one.document)


@pytest.mark.parametrize(
    "file", sorted((ROOT / "examples/jobs").glob("*.yaml")), ids=lambda p: p.name
)
def test_an_example_is_a_valid_spec_whose_script_exists(file: Path) -> None:
    first, *others = specs.all_of(job_files.read(str(file)).spec, {})
    parsed = job_spec.parse(first.document)
    assert parsed.name == (f"{file.stem}-1" if others else file.stem)
    assert parsed.workdir == str(ROOT)
    assert (ROOT / parsed.command[1]).is_file()


@pytest.mark.parametrize("page", LINKED_PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    prose = without_blocks((ROOT / page).read_text())
    for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^):]*))?\)", prose):
        linked = (ROOT / page).parent / target if target else ROOT / page
        assert linked.exists(), target
        assert not heading or heading in anchors_of(linked), f"{target}#{heading}"


@pytest.mark.parametrize("folder", CHAPTERS)
def test_a_folder_of_chapters_has_a_map_of_all(folder: str) -> None:
    chapters = {path.name for path in (ROOT / "docs" / folder).glob("*.md")} - {"README.md"}
    text = (ROOT / "docs" / folder / "README.md").read_text()
    links = re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", text, re.MULTILINE)
    assert sorted(links) == sorted(chapters)


def anchors_of(page: Path) -> set[str]:
    """The names under which a page's headings are linked, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(page.read_text()), re.MULTILINE)
    texts = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


def without_blocks(text: str) -> str:
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def test_decisions_are_numbered_one_by_one() -> None:
    records = sorted((ROOT / "docs/decisions").glob("*.md"))
    titles = [record.read_text().partition(".")[0] for record in records]
    assert titles == [f"# {number}" for number in range(1, len(records) + 1)]
    assert [int(record.name[:4]) for record in records] == [*range(1, len(records) + 1)]


def test_every_command_and_option_is_documented() -> None:
    text = (ROOT / "docs/clients/cli.md").read_text()
    group = get_command(app)
    commands: dict[str, Any] = {name: group.loaded(name) for name in VERBS}  # type: ignore[attr-defined]
    for verb, command in commands["secrets"].commands.items():
        commands[f"secrets {verb}"] = command
    for name, command in commands.items():
        assert f"concertina {name}" in text
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("--") or f"`{option}" in text, f"{name} {option}"


def test_every_exit_code_is_documented() -> None:
    text = (ROOT / "docs/clients/cli.md").read_text()
    documented = set(re.findall(r"^\| (\d+) \|", text, re.MULTILINE))
    assert documented == {str(code.value) for code in exit_codes.CommandExitCode}
