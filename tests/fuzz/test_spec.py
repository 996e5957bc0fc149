"""Can any job spec, in JSON or YAML, be more than the service can answer?"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, Final

from django.db import transaction
from hypothesis import strategies as st
from pydantic import BaseModel
from rest_framework.test import APIClient

from jobs.spec.job_spec import JobSpec
from tests.fuzz.conftest import Fuzz
from tests.service.conftest import spec

SUBMIT: Final = "/api/v1/jobs"
VALIDATE: Final = "/api/v1/jobs:validate"
REFUSED: Final = {400, 409, 413, 415, 422}

Path = tuple[str, ...]


def paths(model: type[BaseModel], above: Path = ()) -> Iterator[Path]:
    """Every field of a spec, and of its parts."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from paths(field.annotation, (*above, name))


FIELDS: Final = [
    *paths(JobSpec),
    *(("batch", "global_batch_size", part) for part in ("base", "min", "max", "multiple_of")),
    *(("elastic", "scale_on", part) for part in ("metric", "grow_above", "shrink_below")),
    ("env", "A"),
    ("labels", "a"),
    ("unknown",),
    ("elastic", "\ud800"),
]
EDGES: Final = st.sampled_from(
    [
        *(0, -1, 1, 2**31 - 1, 2**31, 2**63, 10**9, 10**21, 10**400, -(10**400)),
        *(1e308, -1e308, 5e-324, -0.0, float("nan"), float("inf"), True, False, None),
        *("", "\0", "\ud800", "a" * 5000, "é\u202e\x1b[2J", "1:30", "no", "<<", "=", "auto"),
        *("0s", "1ms", "999999999999.999999d", "1B", "999999999999TiB", "٣s", "1" * 400 + "s"),
        *("2127-12-01T08:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
        *([], {}, [[]], [None], {"": ""}, {"a": {"b": {}}}, ["a"] * 1001),
    ]
)
VALUES: Final = st.one_of(
    EDGES,
    st.integers(),
    st.integers(1, 64),
    st.floats(),
    st.text(max_size=8),
    st.lists(EDGES, max_size=3),
    st.lists(st.integers(1, 64), max_size=3),
    st.dictionaries(st.text(max_size=3), EDGES, max_size=3),
)


def changed(changes: dict[Path, Any]) -> Any:
    """A spec that fits, with some values of it replaced."""
    document: Any = copy.deepcopy(spec())
    for path, value in sorted(changes.items(), key=lambda change: len(change[0])):
        part = document
        for name in path[:-1]:
            if not isinstance(part.get(name), dict):
                part[name] = {}
            part = part[name]
        part[path[-1]] = copy.deepcopy(value)  # into which a later change may reach
    return document


DOCUMENTS: Final = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4).map(changed)


def test_every_spec_is_taken_or_refused_in_words(api: APIClient, fuzz: Fuzz) -> None:
    def holds(document: Any) -> None:
        as_json = ask(api, VALIDATE, json.dumps(document), "application/json")
        as_yaml = ask(api, VALIDATE, json.dumps(document), "application/yaml")
        if "\\u" not in json.dumps(document):  # of which YAML knows no pairs
            assert as_json.json().get("resolved_spec") == as_yaml.json().get("resolved_spec")
        is_fine = as_json.status_code == 200 and not as_json.json()["problems"]
        check_submission(api, json.dumps(document), is_fine=is_fine)

    fuzz(DOCUMENTS, holds, in_suite=30)


def check_submission(api: APIClient, text: str, *, is_fine: bool) -> None:
    """It is taken if checking it found nothing, and what is taken can be read everywhere."""
    with transaction.atomic():
        made = ask(api, SUBMIT, text, "application/json")
        assert (made.status_code == 201) == is_fine, made.content
        if is_fine:
            address = f"{SUBMIT}/{made.json()['id']}"
            for place in (SUBMIT, address, f"{address}/explain", "/api/v1/teams"):
                assert api.get(place).status_code == 200
        transaction.set_rollback(True)


TEXTS: Final = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(lambda text: text.encode(errors="surrogatepass")),
    st.lists(
        st.sampled_from(
            [
                *("{", "}", "[", "]", ",", ":", "\n", " ", "- ", "? ", "&a ", "*a", "!!int ", "!"),
                *('"', "'", "|", ">", "%", "@", "`", "#", "---", "...", "\t", "<<", "0x", ".inf"),
                *(
                    "name: a",
                    "command",
                    "[a]",
                    "deadline",
                    "2027-01-01",
                    '"\\0"',
                    "1e999",
                    "\ufeff",
                ),
            ]
        ),
        max_size=30,
    ).map(lambda parts: "".join(parts).encode()),
)


def test_every_text_is_taken_or_refused_in_words(api: APIClient, fuzz: Fuzz) -> None:
    def holds(text: bytes) -> None:
        for media_type in ("application/json", "application/yaml"):
            ask(api, VALIDATE, text, media_type)

    fuzz(TEXTS, holds, in_suite=80)


def ask(api: APIClient, address: str, body: str | bytes, media_type: str) -> Any:
    """The answer, which is none of the service's defects; the client raises what a view raises."""
    answer = api.post(address, body, content_type=media_type)
    assert answer.status_code in {200, 201, *REFUSED}, answer.content
    if answer.status_code in REFUSED:
        assert set(answer.json()) == {"code", "message", "details"}
    return answer
