"""Does a text of the API travel compressed to whoever takes it so, and unchanged to others?"""

from __future__ import annotations

import gzip

from rest_framework.test import APIClient

from tests.service.conftest import SubmitJob

TAKES_IT = {"Accept-Encoding": "gzip, deflate, br"}
JOBS = "/api/v1/jobs"


def test_a_long_answer_is_compressed_for_whoever_takes_it(
    api: APIClient, submit: SubmitJob
) -> None:
    for number in range(10):
        submit(name=f"job-{number}")
    plain, compressed = api.get(JOBS), api.get(JOBS, headers=TAKES_IT)
    assert "Content-Encoding" not in plain.headers
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert int(compressed.headers["Content-Length"]) == len(compressed.content)
    assert len(compressed.content) * 5 < len(plain.content)
    assert gzip.decompress(compressed.content) == plain.content
    assert {"Accept-Encoding"} <= set(plain.headers["Vary"].split(", ")) & set(
        compressed.headers["Vary"].split(", ")
    )


def test_whoever_has_a_compressed_answer_is_not_sent_it_again(
    api: APIClient, submit: SubmitJob
) -> None:
    for number in range(10):
        submit(name=f"job-{number}")
    tag = api.get(JOBS, headers=TAKES_IT).headers["ETag"]
    again = api.get(JOBS, headers={**TAKES_IT, "If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


def test_a_short_answer_and_one_to_whoever_takes_no_other_are_as_they_are(api: APIClient) -> None:
    refused = "gzip;q=0, identity"
    for path, encodings in (
        (JOBS, "gzip"),
        ("/api/v1/schema", "identity"),
        ("/api/v1/schema", refused),
    ):
        answer = api.get(path, headers={"Accept-Encoding": encodings})
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer.headers
