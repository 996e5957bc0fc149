"""Is a name read as Docker reads it, and does a pattern cover what it says and nothing else?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tenancy.image_names import BadName, ImageName, ImagePattern, matches

DIGEST = "sha256:" + "a" * 64
OTHER_DIGEST = "sha256:" + "b" * 64

IN_FULL = {
    "python": "docker.io/library/python:latest",
    "python:3.11-slim": "docker.io/library/python:3.11-slim",
    "pytorch/pytorch": "docker.io/pytorch/pytorch:latest",
    "docker.io/python": "docker.io/library/python:latest",
    "docker.io/library/python": "docker.io/library/python:latest",
    "index.docker.io/library/python": "docker.io/library/python:latest",
    "registry.local/vision/train:1.4": "registry.local/vision/train:1.4",
    "registry.local/train": "registry.local/train:latest",
    "REGISTRY.local:5000/vision/train": "registry.local:5000/vision/train:latest",
    "localhost/train": "localhost/train:latest",
    "registry:5000/train": "registry:5000/train:latest",
    f"registry.local/train@{DIGEST}": f"registry.local/train@{DIGEST}",
    f"registry.local/train:1@{DIGEST}": f"registry.local/train:1@{DIGEST}",
    "deadbeef": "docker.io/library/deadbeef:latest",
    "a__b/c-d.e--f": "docker.io/a__b/c-d.e--f:latest",
}


@pytest.mark.parametrize("kind", [ImageName, ImagePattern])
def test_what_is_short_enough_is_read_again_in_full(kind: type[ImageName | ImagePattern]) -> None:
    """Rules are kept in full: one that could not be read would refuse every image."""
    read = []
    for length in range(360, 401):
        try:
            in_full = str(kind.parse("a" * length))
        except BadName:
            break
        assert str(kind.parse(in_full)) == in_full
        read.append(in_full)
    assert read


@pytest.mark.parametrize("name", IN_FULL)
def test_a_name_is_read_as_docker_reads_it(name: str) -> None:
    assert str(ImageName.parse(name)) == IN_FULL[name]
    assert str(ImageName.parse(IN_FULL[name])) == IN_FULL[name]


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "/", ":", "@", ".", "..", "a b", " python", "python ", "python\n", "pyth\0n"),
        *("Python", "Vision/train", "registry.local/Vision/train", "registry.local/", "/train"),
        *("registry.local//train", "registry.local/../train", "registry.local/a/../b", "a..b"),
        *("registry.local/.hidden", "registry.local/-a", "registry.local/a_", "a___b"),
        *("python:", "python:.a", "python:a:b", "python:" + "a" * 129, "python:a/b", "a/b:c/d"),
        *("python@", "python@sha256:abc", f"python@{DIGEST.upper()}", f"python@md5:{'a' * 32}"),
        *(f"python@{DIGEST}@{DIGEST}", f"@{DIGEST}", DIGEST, "https://registry.local/train"),
        *("registry.local:/train", "registry.local:port/train", "registry.local:999999/train"),
        *("registry.local./train", ".local/train", "registry..local/train", "-r.local/train"),
        *("user@registry.local/train", "registry.local/*", "*", "rëgistry.local/train", "п/a"),
        "registry.local/" + "a" * 400,
    ],
)
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(BadName, match="Is not an image's name"):
        ImageName.parse(name)


COVERS: dict[str, list[str]] = {
    "registry.local/vision/*": [
        "registry.local/vision/train",
        "registry.local/vision/train:1",
        "registry.local/vision/a/b",
        f"registry.local/vision/train@{DIGEST}",
        "Registry.Local/vision/train",
    ],
    "registry.local:5000/*": ["registry.local:5000/a", "registry.local:5000/a/b:c"],
    "registry.local/vision/train": ["registry.local/vision/train", "registry.local/vision/train:9"],
    "registry.local/train:1.*": ["registry.local/train:1.", "registry.local/train:1.4"],
    f"registry.local/train@{DIGEST}": [
        f"registry.local/train@{DIGEST}",
        f"registry.local/train:1@{DIGEST}",
    ],
    "python": ["python:3", "docker.io/python", "index.docker.io/library/python"],
    "pyth*": ["python:3", "docker.io/library/python"],
    "pytorch/*": ["docker.io/pytorch/pytorch"],
    "docker.io/*": ["python", "pytorch/pytorch:2"],
    "*": ["python", "registry.local:5000/a", f"x.example.com/a@{DIGEST}"],
}


@pytest.mark.parametrize("pattern", COVERS)
def test_a_pattern_covers_what_it_says(pattern: str) -> None:
    read = ImagePattern.parse(pattern)
    assert [name for name in COVERS[pattern] if not read.covers(ImageName.parse(name))] == []
    assert ImagePattern.parse(str(read)) == read


COVERS_NOT: dict[str, list[str]] = {
    "registry.local/vision/*": [
        "registry.local.evil.com/vision/train",
        "evil-registry.local/vision/train",
        "registry.local:5000/vision/train",
        "registry.local/vision",
        "registry.local/vision-evil/train",
        "registry.local/x/vision/train",
        "registryxlocal/vision/train",
        "evil.com/registry.local/vision/train",
        "vision/train",
    ],
    "registry.local/vision/train": [
        "registry.local/vision/train2",
        "registry.local/vision/train/x",
        "registry.local/vision",
    ],
    "registry.local/train:1.*": [
        "registry.local/train:2.1",
        "registry.local/train",
        "registry.local/train:1x",
        f"registry.local/train:1.4@{DIGEST}",
        f"registry.local/train@{DIGEST}",
    ],
    f"registry.local/train@{DIGEST}": [
        "registry.local/train",
        f"registry.local/train@{OTHER_DIGEST}",
        f"registry.local/other@{DIGEST}",
    ],
    "python": ["evil/python", "registry.local/python", "registry.local/library/python", "pythons"],
    "python*": ["pythonevil/mal", "registry.local/python"],
    "localhost/*": ["localhost.evil.com/a", "a/localhost/b"],
    "docker.io/*": ["registry.local/a", "docker.io.evil.com/a", "docker.io:443/a"],
}


@pytest.mark.parametrize("pattern", COVERS_NOT)
def test_a_pattern_covers_nothing_that_only_looks_alike(pattern: str) -> None:
    read = ImagePattern.parse(pattern)
    assert [name for name in COVERS_NOT[pattern] if read.covers(ImageName.parse(name))] == []


@pytest.mark.parametrize(
    "pattern",
    [
        *("", " ", "*/*", "*.local/train", "registry.*/train", "reg*/train", "*:5000/a"),
        *("registry.local/../*", "registry.local//*", "registry.local/", "registry.local/Vision/*"),
        *(
            "registry.local/a b",
            "registry.local/*\n",
            "registry.local/a:*b:c",
            "registry.local/(a|b)",
        ),
        *(f"registry.local/a:1@{DIGEST}", "registry.local/a@sha256:*", "r.local/" + "*a" * 6),
        *("registry.local/[a-z]*", "registry.local/a?", "registry.local/-*"),
    ],
)
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(BadName):
        ImagePattern.parse(pattern)


@given(st.text("ab*", max_size=8), st.text("ab", max_size=8))
def test_stars_stand_for_any_characters(pattern: str, name: str) -> None:
    by_regex = ".*".join(re.escape(part) for part in pattern.split("*"))
    assert matches(pattern, name) == bool(re.fullmatch(by_regex, name))


def test_a_pattern_that_nearly_fits_is_looked_for_in_one_pass() -> None:
    """Each star may begin at any of 20 000 places; trying them all would take for ever."""
    assert not matches("*" + "a*" * 5 + "b", "a" * 20_000 + "c")
