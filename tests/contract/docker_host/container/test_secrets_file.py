"""A process's secrets, on their way into its container."""

from __future__ import annotations

from pathlib import Path

from cluster.docker_host.container import secrets_file


def test_a_second_attempt_writes_no_file_that_is_closed_to_writing(tmp_path: Path) -> None:
    """The first one's is: also to the service's own user, unless that is root."""
    folder = tmp_path / "run"
    secrets_file.write(folder, {"TOKEN": "first"})
    (written,) = folder.iterdir()
    assert written.stat().st_mode & 0o777 == 0o444
    with written.open() as first:
        secrets_file.write(folder, {"TOKEN": "second"})
        assert first.read() == "export TOKEN=first\n"
    assert written.read_text() == "export TOKEN=second\n"
