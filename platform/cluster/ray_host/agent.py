"""What does a node do for the service? An agent of ours, an actor of Ray, keeps its process host.

It holds nothing but that host's folder, which is on the node's own disk: each process has a
supervisor outside Ray's process tree, so that it outlives the agent, Ray's daemon of the node
(raylet) and Ray's head. The next agent finds all of them in the folder. One method takes all
questions, as JSON, so that neither side has to have the other's classes.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from cluster.logs import log_files
from cluster.process_host.host import ProcessHost
from cluster.ray_host import fitness, node_users, wire
from cluster.ray_host.wire import LogPortion
from cluster.worker_host import Labels, LaunchRefused, WorkerHostError

_MOST_BYTES: Final = 1 << 20  # of one portion of a log
_ASK_DRIVER_SECONDS: Final = 30.0


class Agent:
    """The agent of one node, for one installation."""

    def __init__(self, node: str, folder: str, oom_score: int | None = None) -> None:
        """Take this score of the kernel's out-of-memory killer, for all that is started as well."""
        self._node = node
        self._host = ProcessHost(state_dir=Path(folder))
        if oom_score is not None:
            with contextlib.suppress(OSError):  # closed to us: nothing depends on it
                Path("/proc/self/oom_score_adj").write_text(str(oom_score))

    def ask(self, line: str) -> str:
        """Answer a question: `{"answer": …}`, `{"refused": why}` or `{"unavailable": why}`."""
        try:
            document = wire.request_of(line)
            answer = self._calls[document["call"]](document)
        except wire.OtherVersion as problem:
            return json.dumps({"unavailable": str(problem)})
        except LaunchRefused as problem:
            return json.dumps({"refused": str(problem)})
        except (WorkerHostError, OSError) as problem:
            return json.dumps({"unavailable": str(problem)})
        return json.dumps({"answer": answer})

    @property
    def _calls(self) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
        return {
            "hello": self._hello,
            "start": self._start,
            "stop": self._stop,
            "forget": self._forget,
            "look": self._look,
            "read_log": self._read_log,
            "read_gauge": self._read_gauge,
            "list_gpus": self._list_gpus,
            "tell_machine": self._tell_machine,
        }

    def _hello(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return which version is spoken here, and why jobs cannot run here, if they cannot."""
        why_unfit = (
            self._why_unsafe(request)
            or fitness.why_unfit(
                folder=self._host.state_dir,
                state_dir=Path(request["state_dir"]),
                word=request["word"],
                python=request["worker_python"],
            )
            or self._why_no_users(request)
            or self._why_gpus_differ(request.get("gpus"))
        )
        return {"version": wire.VERSION, "why_unfit": why_unfit}

    def _why_unsafe(self, request: Mapping[str, Any]) -> str:
        """Say why root should write nothing here; empty: it may, or the service wants no users."""
        if request.get("first_user") is None:
            return ""
        return node_users.why_unsafe(
            self._host.state_dir,
            state_dir=Path(request["state_dir"]),
            rays_folder=node_users.rays_folder(sys.argv),
        )

    def _why_no_users(self, request: Mapping[str, Any]) -> str:
        """Say why teams are not users of their own; empty: they are, or the service wants none."""
        first_user = request.get("first_user")
        if first_user is None:
            return ""
        state_dir = Path(request["state_dir"])
        return node_users.why_none(first_user, state_dir=state_dir, python=request["worker_python"])

    def _why_gpus_differ(self, numbers: Mapping[str, int] | None) -> str:
        """`numbers`: what the pool wants and what Ray has; None: it has slots, or nobody says."""
        if numbers is None:
            return ""
        told = self._list_gpus({})
        return fitness.why_gpus_differ(
            wanted=numbers["wanted"],
            in_ray=numbers["in_ray"],
            listing=told["listing"],
            given=told["visible"],
        )

    def _start(self, request: Mapping[str, Any]) -> None:
        launches = [wire.launch_of(one) for one in request["launches"]]
        host = replace(self._host, log_bounds=wire.bounds_of(request["log_bounds"]))
        if any(launch.user is not None for launch in launches):
            rays_folder = node_users.rays_folder(sys.argv)
            node_users.close(rays_folder)
            seen = node_users.folders_of(request["worker_python"])
            hidden = () if rays_folder is None else (rays_folder,)
            host = replace(host, python_folders=seen, hidden_folders=hidden)
        host.start(*launches)

    def _stop(self, request: Mapping[str, Any]) -> None:
        self._host.stop(request["process_id"], grace_seconds=request["grace_seconds"])

    def _forget(self, request: Mapping[str, Any]) -> None:
        self._host.forget(request["process_id"])

    def _look(self, _: Mapping[str, Any]) -> list[dict[str, Any]]:
        """All processes, each with how long its log is."""
        return [
            {**wire.of_process(one), "log_end": self._log_end(one.labels)}
            for one in self._host.list().processes
        ]

    def _log_end(self, labels: Labels) -> int:
        found = self._logs(labels.job_id, labels.process_id)
        return found[0].end if found else 0

    def _read_log(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what stands at a position, or behind it if that was dropped; None: nothing yet."""
        position: int = request["position"]
        for log in self._logs(request["job_id"], request["process_id"]):
            for file in log.files:
                if position < file.end:
                    at = max(position, file.start)
                    with file.path.open("rb") as opened:
                        opened.seek(at - file.start)
                        data = opened.read(min(_MOST_BYTES, file.end - at))
                    return wire.of_portion(
                        LogPortion(file_start=file.start, position=at, data=data)
                    )
        return None

    def _logs(self, job_id: str, process_id: str) -> list[log_files.ProcessLog]:
        folder = log_files.folder_of(job_id, state_dir=self._host.state_dir)
        return log_files.logs_in(folder, process_id=process_id)

    def _read_gauge(self, _: Mapping[str, Any]) -> dict[str, Any]:
        return wire.of_reading(self._host.gauge.read(self._node))

    def _list_gpus(self, _: Mapping[str, Any]) -> dict[str, Any]:
        """What `nvidia-smi -L` says, and which of these Ray gave us; empty: there is no driver."""
        try:
            finished = subprocess.run(
                ("nvidia-smi", "-L"),  # noqa: S607 - wherever the driver's packages put it
                capture_output=True,
                text=True,
                check=False,
                timeout=_ASK_DRIVER_SECONDS,
            )
        except FileNotFoundError:
            return {"listing": "", "visible": None}
        except subprocess.TimeoutExpired as problem:
            raise OSError(f"NVIDIA's driver does not answer: {problem}") from problem
        if finished.returncode:
            words = " ".join((finished.stdout + finished.stderr).split())
            raise OSError(f"NVIDIA's driver does not answer: {words}")
        return {"listing": finished.stdout, "visible": os.environ.get("CUDA_VISIBLE_DEVICES")}

    def _tell_machine(self, request: Mapping[str, Any]) -> dict[str, Any]:
        pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        return {
            "memory_bytes": pages * page,
            "cpus": len(os.sched_getaffinity(0)),
            "complaints": list(fitness.complaints(service_time=request["time"])),
        }
