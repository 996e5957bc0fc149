"""A job that tries everything a container must not be able to do, and writes down what it could."""

import ctypes
import json
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS = 8.0  # for each address, which Linux asks four times meanwhile; all are tried at once
NEW_USER_NAMESPACE, NEW_NAMESPACE = 0x10000000, 0x00020000
LARGEST_FILE = 1 << 20
ALMOST_EVERYTHING = ("/checkpoints", "/dev", "/etc", "/home", "/opt", "/root", "/run", "/scratch")
ELSEWHERE = ("/srv", "/tmp", "/var", "/proc/1", "/proc/self")


def main() -> None:
    asked = json.loads(os.environ["PROBE"])
    found = {
        "reached": reached(asked["addresses"]),
        "writable": sorted(writable_folders()),
        "needles": sorted(str(path) for path in holding("".join(asked["needle"]))),
        "status": dict(status()),
        "user": os.getuid(),
        "granted": sorted(name for name, trick in TRICKS.items() if works(trick)),
        "others": [path.name for path in Path("/proc").iterdir() if is_of_another_user(path)],
        "token": os.environ["CONCERTINA_TOKEN"],
        "coordinator": reaches(*coordinator()),
    }
    Path("/checkpoints/probe.json.part").write_text(json.dumps(found))
    Path("/checkpoints/probe.json.part").rename("/checkpoints/probe.json")


def coordinator() -> tuple[str, int]:
    host, _, port = os.environ["CONCERTINA_COORDINATOR"].rpartition(":")
    return host, int(port)


def reached(addresses: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Those where somebody answers; all are tried at once."""
    with ThreadPoolExecutor(len(addresses)) as pool:
        answers = pool.map(lambda address: reaches(*address), addresses)
        return [address for address, answer in zip(addresses, answers, strict=True) if answer]


def reaches(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=SECONDS):
            return True
    except OSError:
        return False


def writable_folders() -> Iterator[str]:
    """The topmost folders in which we may make a file."""
    for folder, below, _ in os.walk("/"):
        if folder in {"/proc", "/sys"}:
            below.clear()
        elif can_write_into(Path(folder)):
            below.clear()
            yield folder


def can_write_into(folder: Path) -> bool:
    attempt = folder / ".probe"
    try:
        attempt.touch()
    except OSError:
        return False
    attempt.unlink()
    return True


def holding(needle: str) -> Iterator[Path]:
    """Files that contain the text."""
    for root in (*ALMOST_EVERYTHING, *ELSEWHERE):
        for folder, _, files in os.walk(root):
            for path in (Path(folder, name) for name in files):
                if needle in text_of(path):
                    yield path


def text_of(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(LARGEST_FILE).decode(errors="replace")
    except OSError:
        return ""


def status() -> Iterator[tuple[str, str]]:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in {"CapEff", "CapBnd", "CapPrm", "NoNewPrivs", "Seccomp"}:
            yield name, value.strip()


def works(trick: Callable[[], None]) -> bool:
    try:
        trick()
    except OSError:
        return False
    return True


def call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)


def is_of_another_user(path: Path) -> bool:
    return path.name.isdecimal() and path.stat().st_uid not in {os.getuid(), 0}


def ask_docker() -> None:
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect("/var/run/docker.sock")


def listen_to_all() -> None:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()


TRICKS: dict[str, Callable[[], None]] = {
    "become root": lambda: os.setuid(0),
    "ask Docker": ask_docker,
    "listen to all packets": listen_to_all,
    "make a device": lambda: os.mknod("/scratch/disk", 0o60600, os.makedev(254, 0)),
    "mount": lambda: call("mount", b"none", b"/scratch", b"tmpfs", 0, None),
    "mount for its own": lambda: call("unshare", NEW_USER_NAMESPACE | NEW_NAMESPACE),
    "rename the machine": lambda: socket.sethostname("mine"),
    "change the kernel": lambda: Path("/proc/sys/kernel/core_pattern").write_text("|/bin/sh"),
}

if __name__ == "__main__":
    main()
