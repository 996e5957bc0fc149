"""Is the set-up written as a file, shown as it would change, and changed by the command line?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st
from tenancy.models import Team

from concertina.input.setup_files import setup_text
from concertina.input.yaml_documents import document_of
from concertina.views.installation.setups import outcome_text
from tests.campaigns import examples
from tests.client.command_line import CommandLine

PASSWORD = "a long password"
WORDS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=8),
    st.sampled_from(["no", "1e3", "0o17", "1:30", "null", "~", "2026-11-29", "#", "-", "*/x", ""]),
)
VALUES = st.one_of(
    *(st.none(), st.booleans(), st.integers(-(2**40), 2**40), WORDS),
    st.floats(allow_nan=False, allow_infinity=False),
)
DOCUMENTS = st.dictionaries(
    st.sampled_from(["pools", "teams", "images"]),
    st.dictionaries(
        st.sampled_from(["a", "on", "n", "y-1"]),
        st.one_of(VALUES, st.lists(VALUES, max_size=2), st.dictionaries(WORDS, VALUES, max_size=2)),
        max_size=3,
    ),
    min_size=1,
)


@examples(200)
@given(DOCUMENTS)
def test_the_file_is_read_as_what_was_written(document: Any) -> None:
    """Whatever the values are, by the rules by which the command line reads files."""
    assert document_of(setup_text(document), "cluster.yaml")[0] == document


@pytest.fixture
def admin(concertina: CommandLine) -> tuple[str, str]:  # after the teams
    User.objects.create_superuser("root", password=PASSWORD)
    return ("--as", "root")


@pytest.fixture
def file(concertina: CommandLine, admin: tuple[str, str], tmp_path: Path) -> Path:
    """The set-up as it is."""
    done = concertina("admin", "export", *admin, stdin=PASSWORD)
    assert done.exit_code == 0, done.err
    path = tmp_path / "cluster.yaml"
    path.write_text(done.out)
    return path


def edit(file: Path, **changes: Any) -> None:
    document = yaml.safe_load(file.read_text())
    document["teams"]["vision"] |= changes
    file.write_text(yaml.safe_dump(document))


def test_an_export_tells_what_it_is_and_applies_as_no_change(
    concertina: CommandLine, admin: tuple[str, str], file: Path
) -> None:
    assert "# Who shares a guarantee of GPUs" in file.read_text()
    where = ("-f", file, *admin)
    for more in (("--dry-run", "--exit-code"), ("--prune",), ("--prune", "--yes")):
        done = concertina("admin", "apply", *where, *more, stdin=PASSWORD)
        assert (done.exit_code, done.out) == (0, "Nothing to change.\n"), done.err


def test_what_would_change_is_shown_and_then_done(
    concertina: CommandLine, admin: tuple[str, str], file: Path
) -> None:
    edit(file, max_queued_jobs=7, images=["registry.example.com/vision/*"])
    where = ("admin", "apply", "-f", file, *admin)
    looked = concertina(*where, "--dry-run", stdin=PASSWORD)
    assert looked.exit_code == 0, looked.err
    assert looked.out == (
        "~ team vision\n"
        "    max_queued_jobs: 1000 → 7\n"
        "+ image rule registry.example.com/vision/* of team vision\n"
        "1 to create, 1 to change, 0 to remove.\n"
    )
    assert concertina(*where, "--dry-run", "--exit-code", stdin=PASSWORD).exit_code == 9
    unasked = concertina(*where, stdin=PASSWORD)
    assert (unasked.exit_code, "--yes" in unasked.err) == (2, True)
    assert Team.objects.get(name="vision").max_queued_jobs == 1000
    done = concertina(*where, "--yes", "-o", "json", stdin=PASSWORD)
    assert done.exit_code == 0, done.err
    assert [one["action"] for one in done.document["changes"]] == ["changed", "created"]
    assert Team.objects.get(name="vision").max_queued_jobs == 7


def test_a_fault_is_shown_with_its_line(
    concertina: CommandLine, admin: tuple[str, str], file: Path
) -> None:
    edit(file, parent="nobody")
    line = next(
        number
        for number, text in enumerate(file.read_text().splitlines(), 1)
        if "parent: nobody" in text
    )
    refused = concertina("admin", "apply", "-f", file, "--dry-run", *admin, stdin=PASSWORD)
    assert refused.exit_code == 3
    assert "names team nobody, which is not there" in refused.err
    assert f"(cluster.yaml:{line})" in refused.err.replace(f"{file.parent}/", "")
    edit(file, parent=None, max_queued_job=3)
    refused = concertina("admin", "apply", "-f", file, "--dry-run", *admin, stdin=PASSWORD)
    assert (refused.exit_code, "Did you mean max_queued_jobs?" in refused.err) == (3, True)


def test_a_file_that_is_far_too_long_is_refused_unread(
    concertina: CommandLine, admin: tuple[str, str], file: Path
) -> None:
    file.write_text("#" * (2 * 1024 * 1024 + 1))
    refused = concertina("admin", "apply", "-f", file, "--dry-run", *admin, stdin=PASSWORD)
    assert (refused.exit_code, "which no set-up has" in refused.err) == (2, True)


def test_tokens_neither_export_nor_apply(concertina: CommandLine, file: Path) -> None:
    for words in (("export",), ("apply", "-f", file, "--dry-run")):
        refused = concertina("admin", *words)
        assert (refused.exit_code, "Only admins" in refused.err) == (5, True)


def test_a_change_reads_well() -> None:
    change: Any = {
        "kind": "quota",
        "of": "vision",
        "name": "a100",
        "action": "changed",
        "fields_changed": [
            {"field": "guaranteed_gpus", "before": 4, "after": 6},
            {"field": "limit_gpus", "before": None, "after": 8},
            {"field": "over_quota_weight", "before": 1.0, "after": 0.5},
            {"field": "note", "before": "", "after": "a\n- team vision"},
        ],
    }
    kept: Any = {"kind": "node", "of": "", "name": "node-9"}
    outcome: Any = {"changes": [change], "kept": [kept], "version": "b", "version_before": "a"}
    assert outcome_text(outcome, is_done=True).plain == (
        "~ quota of team vision in pool a100\n"
        "    guaranteed_gpus: 4 → 6\n"
        "    limit_gpus: null → 8\n"
        "    over_quota_weight: 1 → 0.5\n"
        '    note: "" → "a\\n- team vision"\n'
        "Not in the file, and kept without --prune: node node-9\n"
        "0 created, 1 changed, 0 removed."
    )
