"""Is the same folder the same archive, and is what cannot be packed told by name?"""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from concertina.code import packing, provenance
from concertina.code.fetching import unpack
from concertina.code.packing import packed
from concertina.code.spec import folder_of
from concertina.errors import BadInput


def write(folder: Path, **contents: str) -> Path:
    for name, text in contents.items():
        file = folder / name.replace("__", "/").replace("_py", ".py").replace("dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def names(folder: Path) -> list[str]:
    with packed(folder) as code, tarfile.open(fileobj=code.archive) as tar:
        return tar.getnames()


def digest(folder: Path) -> str:
    with packed(folder) as code:
        return code.digest


def test_the_same_files_are_the_same_archive_wherever_and_whenever(tmp_path: Path) -> None:
    one = write(tmp_path / "one", train_py="x", pkg__lib_py="y")
    two = write(tmp_path / "two", pkg__lib_py="y", train_py="x")
    os.utime(two / "train.py", (1, 1))
    (two / "train.py").chmod(0o600)
    (two / "empty").mkdir()
    with packed(one) as first, packed(two) as second:
        assert first.digest == second.digest
        assert first.archive.read() == second.archive.read()
        assert (first.files, first.bytes) == (2, 2)
    (two / "train.py").chmod(0o755)
    assert digest(two) != digest(one)


def test_what_git_ignores_stays_out_and_the_nearest_file_counts(tmp_path: Path) -> None:
    write(
        tmp_path,
        dot_gitignore="*.log\n/data/\nbuild\n",
        dot_concertinaignore="secret.txt\n!keep.log\n",
        train_py="",
        data__big_py="",
        pkg__data__small_py="",
        pkg__dot_gitignore="!special.log\n",
        pkg__build__x_py="",
    )
    for name in ("a.log", "keep.log", "secret.txt", "pkg/special.log", "pkg/other.log"):
        (tmp_path / name).write_text("")
    for name in (".git/HEAD", "__pycache__/a.pyc", "env/pyvenv.cfg", "env/lib/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert names(tmp_path) == [
        ".concertinaignore",
        ".gitignore",
        "keep.log",
        "pkg/.gitignore",
        "pkg/data/small.py",
        "pkg/special.log",
        "train.py",
    ]


def test_a_link_within_the_folder_is_kept_as_one(tmp_path: Path) -> None:
    write(tmp_path / "a", lib__x_py="1")
    (tmp_path / "a" / "link").symlink_to("lib/x.py")
    with packed(tmp_path / "a") as code:
        assert unpack(code.archive, tmp_path / "b") == 2
    assert (tmp_path / "b" / "link").readlink() == Path("lib/x.py")


@pytest.mark.parametrize("target", ["/etc/hosts", "../outside", "lib/../../outside"])
def test_a_link_that_leaves_the_folder_is_refused_by_name(tmp_path: Path, target: str) -> None:
    (tmp_path / "here").symlink_to(target)
    with pytest.raises(BadInput, match=r"here is a link to .* not within"), packed(tmp_path):
        pass


def test_a_link_that_goes_up_behind_a_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to("lib/../x.py")
    with pytest.raises(BadInput, match=r"lib/../x.py. Let it lead to x.py."), packed(tmp_path):
        pass


def test_what_is_neither_file_nor_folder_is_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="pipe is neither"), packed(tmp_path):
        pass


def test_too_much_is_refused_with_the_largest_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "MOST_BYTES", 5 << 20)
    for megabytes in (1, 2, 3):
        (tmp_path / f"m{megabytes}.bin").write_bytes(b"\0" * (megabytes << 20))
    with pytest.raises(BadInput, match=r"m3.bin \(3 MiB\), m2.bin \(2 MiB\)"), packed(tmp_path):
        pass
    monkeypatch.setattr(packing, "MOST_FILES", 2)
    with pytest.raises(BadInput, match="has 3 files"), packed(tmp_path):
        pass


def test_a_file_that_changes_meanwhile_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a_py="1", b_py="2")
    add = tarfile.TarFile.addfile

    def slow(tar: tarfile.TarFile, info: tarfile.TarInfo, file: object = None) -> None:
        if info.name == "b.py":
            (tmp_path / "b.py").write_text("22")
        add(tar, info, file)  # type: ignore[arg-type]

    monkeypatch.setattr(tarfile.TarFile, "addfile", slow)
    with pytest.raises(BadInput, match=r"b.py has changed"), packed(tmp_path):
        pass


def test_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a folder"), packed(tmp_path / "nowhere"):
        pass


def test_code_comes_back_into_a_folder_that_is_empty_only(tmp_path: Path) -> None:
    write(tmp_path / "there", a_py="")
    with packed(tmp_path / "there") as code, pytest.raises(BadInput, match="not empty"):
        unpack(code.archive, tmp_path / "there")


# spec -> the folder that is its code, as seen from the job file
FOLDERS: dict[str, tuple[dict[str, object], str | None]] = {
    "a file beside it is named": ({"command": ["python", "train.py"]}, "."),
    "nothing beside it is named": ({"command": ["python", "-m", "pkg"]}, None),
    "a file elsewhere is named": ({"command": ["python", "/etc/hosts"]}, None),
    "it starts elsewhere": ({"command": ["python", "train.py"], "workdir": "/x"}, None),
    "none is wanted": ({"command": ["python", "train.py"], "code": None}, None),
    "a folder is named": ({"command": ["x"], "code": {"path": "lib"}}, "lib"),
    "a snapshot is named": ({"code": {"digest": "0" * 64}}, None),
    "no command": ({}, None),
    "a command that is none": ({"command": "python train.py"}, None),
    "a word too long for a name": ({"command": ["x" * 5000]}, None),
}


@pytest.mark.parametrize("sentence", FOLDERS)
def test_which_folder_is_a_jobs_code(tmp_path: Path, sentence: str) -> None:
    write(tmp_path, train_py="")
    spec, expected = FOLDERS[sentence]
    found = folder_of(dict(spec), tmp_path)
    assert found == (None if expected is None else tmp_path / expected)


@pytest.mark.parametrize("code", ["x", 1, [], {}, {"path": 1}, {"path": ".", "git": {}}])
def test_a_code_that_is_neither_is_refused(tmp_path: Path, code: object) -> None:
    with pytest.raises(BadInput, match=r"write \{path: FOLDER\}"):
        folder_of({"code": code}, tmp_path)


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(("git", "-C", str(folder), *who, *arguments), check=True, capture_output=True)


def test_where_code_comes_from_is_what_git_says(tmp_path: Path) -> None:
    assert provenance.of(tmp_path) is None
    write(tmp_path, train_py="x = 1\n")
    git(tmp_path, "init", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    told = provenance.of(tmp_path)
    assert told is not None
    assert (told["branch"], told["is_changed"], told["diff"]) == ("main", False, "")
    write(tmp_path, train_py="x = 2\n" + "y\n" * 40_000)
    told = provenance.of(tmp_path)
    assert told is not None
    assert told["is_changed"]
    assert "+x = 2" in told["diff"]
    assert told["diff"].endswith("and more\n")
    assert len(told["diff"]) < 32_768
