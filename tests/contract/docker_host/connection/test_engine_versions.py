"""Which versions of what runs containers are complained of?"""

from __future__ import annotations

import pytest
from cluster.docker_host.connection.engine_versions import complaints


def version(engine: str, runc: str) -> dict[str, object]:
    """As a daemon answers, with what else is in it."""
    parts = [{"Name": "Engine", "Version": engine}, {"Name": "runc", "Version": runc}]
    return {"ApiVersion": "1.41", "Components": [*parts, {"Name": "docker-init", "Version": "0.1"}]}


@pytest.mark.parametrize(
    ("engine", "runc", "told"),
    [
        ("20.10.24+dfsg1", "1.1.5+ds1", ["runc 1.1.5+ds1 is older than 1.1.12"]),
        ("19.03.1", "1.1.12", ["Engine 19.03.1 is older than 20.10.0"]),
        ("18.09", "1.0.0-rc93", ["Engine 18.09", "runc 1.0.0-rc93"]),
        ("29.0.0", "1.3", []),
        ("dev", "unknown", []),
    ],
)
def test_what_is_older_than_its_mending_is_complained_of(
    engine: str, runc: str, told: list[str]
) -> None:
    said = list(complaints(version(engine, runc)))
    assert len(said) == len(told)
    assert all(one.startswith(begin) for one, begin in zip(said, told, strict=True))


def test_a_daemon_that_names_no_parts_is_not_complained_of() -> None:
    assert list(complaints({"ApiVersion": "1.41"})) == []
