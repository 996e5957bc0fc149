"""The worker host for a Ray cluster: the port of `cluster.worker_host` over an agent on each node.

All that it keeps is a link to the cluster and copies of logs. What runs, and how it ended, is in
the records on the nodes, so any number of service processes may use the same nodes at once.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cluster import gpu_listing
from cluster.background.background_jobs import BackgroundJobs
from cluster.background.polled_events import polled
from cluster.following.roster import MachineWish, Roster, RosterKeeper
from cluster.gpu_listing import Gpu
from cluster.logs import log_store
from cluster.logs.log_files import USUAL, LogBounds
from cluster.machine import NodeMachine
from cluster.ray_host import wire
from cluster.ray_host.link_process import Link
from cluster.ray_host.log_copies import LogCopies, NodeLog
from cluster.ray_host.wire import LogPortion
from cluster.usage.readings import NodeGauge, NodeReading
from cluster.worker_host import (
    HostUnavailable,
    Launch,
    LaunchRefused,
    LogLine,
    NodeImage,
    NodeSurvey,
    ObservedProcess,
    ProcessListing,
)

_MARGIN_SECONDS: Final = 3.0  # for the link beyond what agents may take
_START_SECONDS: Final = 30.0  # as the process host: a loaded machine takes its time
_COPY_SECONDS: Final = 30.0  # for the rest of a log, before its process is forgotten
_SURVEY_SECONDS: Final = 40.0  # an agent gives the driver 30

_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")  # of jobs and processes

Answers = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ProcessOnNode:
    """A process of a node, with its log there."""

    process: ObservedProcess
    log: NodeLog


@dataclass(frozen=True, slots=True, kw_only=True)
class RayHost:
    """Runs processes on the nodes of a Ray cluster; they outlive Ray and the service.

    The installation's state folder has the same path on every node, and is shared by all.
    """

    state_dir: Path
    link: Link
    nodes: Callable[[], Mapping[str, int]]  # GPUs or slots by name; asked again and again
    worker_python: str = sys.executable  # on nodes: what teams' users see of Python is its own
    answer_seconds: float = 5.0  # guessed: after that a node counts as silent, and ticks waited
    log_bounds: LogBounds = USUAL
    _copies: LogCopies = field(init=False, repr=False, compare=False)
    _copying: BackgroundJobs = field(
        default_factory=lambda: BackgroundJobs(name="copy_logs"), repr=False, compare=False
    )
    _places: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """By process, the node where it was started or listed last."""

    def __post_init__(self) -> None:
        copies = LogCopies(state_dir=self.state_dir, bounds=self.log_bounds)
        object.__setattr__(self, "_copies", copies)

    def start(self, *launches: Launch) -> None:
        """See the port. One call for each node, all at once.

        CPU limits are not enforced on a node; memory limits bound data segments.
        """
        for launch in launches:
            _check(launch)
        by_node: dict[str, list[Launch]] = {}
        for launch in launches:
            by_node.setdefault(launch.node, []).append(launch)
            self._places[launch.labels.process_id] = launch.node
        questions = {
            node: wire.question(
                "start",
                launches=[wire.of_launch(launch) for launch in some],
                log_bounds=wire.of_bounds(self.log_bounds),
                worker_python=self.worker_python,
            )
            for node, some in by_node.items()
        }
        answers, silent = self._ask(questions, seconds=max(_START_SECONDS, self.answer_seconds))
        refusals = [answer["refused"] for answer in answers.values() if "refused" in answer]
        if refusals:
            raise LaunchRefused("; ".join(refusals))
        if silent:
            raise _unavailable(silent)

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        if node := self._node_of(process_id):
            self._ask_one(node, "stop", process_id=process_id, grace_seconds=grace_seconds)

    def forget(self, process_id: str) -> None:
        """See the port. What it wrote is copied before; a node that does not answer keeps it."""
        node = self._node_of(process_id)
        if node is None:
            return
        seen, _ = self._look(node)
        self._catch_up(node, _logs(seen[node], {process_id}), whole=True)
        self._ask_one(node, "forget", process_id=process_id)

    def list(self) -> ProcessListing:
        """See the port. New lines of logs are copied in the background."""
        seen, silent = self._look(*self.nodes())
        processes = tuple(one.process for some in seen.values() for one in some)
        self._places.update({one.labels.process_id: one.node for one in processes})
        if not silent:
            known = {process.labels.process_id for process in processes}
            self._copies.keep(known)
            for gone in self._places.keys() - known:
                self._places.pop(gone, None)
        for node, some in seen.items():
            self._copy_later(node, _logs(some))
        return ProcessListing(processes=processes, silent_nodes=silent)

    @property
    def survey(self) -> NodeSurvey:
        return self

    def gpus(self, node: str) -> tuple[Gpu, ...]:
        """See the port."""
        answer = self._ask_one(node, "list_gpus", seconds=_SURVEY_SECONDS)
        return gpu_listing.visible(gpu_listing.parse(answer["listing"]), answer["visible"])

    def machine(self, node: str) -> NodeMachine:
        """See the port."""
        answer = self._ask_one(node, "tell_machine", seconds=_SURVEY_SECONDS, time=time.time())
        return NodeMachine(
            memory_bytes=answer["memory_bytes"],
            cpus=answer["cpus"],
            complaints=tuple(answer["complaints"]),
        )

    @property
    def entrance(self) -> None:
        """Nobody: agents of nodes start workers, and nothing beside them."""
        return None

    @property
    def roster_keeper(self) -> RosterKeeper:
        return self

    def roster(self) -> Roster:
        """See the port. Nobody waits for Ray's head, but for its very first answer."""
        request = {"roster": True, "seconds": self.answer_seconds}
        reply = self.link.ask(request, seconds=self.answer_seconds + _MARGIN_SECONDS)
        if "trouble" in reply:
            raise HostUnavailable(f"the link to Ray failed: {reply['trouble']}")
        return wire.roster_of(reply["machines"], reply["unusable"])

    def ask_for(self, *wishes: MachineWish) -> Mapping[str, str]:
        """See the port. A link that nobody has used asks for nothing."""
        if not wishes and not self.link.is_begun:
            return {}
        request = {"machines": {wish.name: wire.of_wish(wish) for wish in wishes}}
        reply = self.link.ask(request, seconds=self.answer_seconds + _MARGIN_SECONDS)
        if "trouble" in reply:
            raise HostUnavailable(f"the link to Ray failed: {reply['trouble']}")
        brought: Mapping[str, str] = reply["brought"]
        return brought

    @property
    def gauge(self) -> NodeGauge:
        return self

    def read(self, node: str) -> NodeReading:
        """See the port."""
        return wire.reading_of(self._ask_one(node, "read_gauge"))

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:  # noqa: ARG002
        """Nothing: a process has no image."""
        return {}

    def events(self, *, poll_seconds: float) -> Iterator[ObservedProcess]:
        return polled(self.list, poll_seconds=poll_seconds)

    def logs(
        self, process_ids: tuple[str, ...], *, job_id: str, tail: int | None = None
    ) -> Iterator[LogLine]:
        """See the port. Lines that were written since the last look are fetched first."""
        wanted = [one for one in process_ids if one in self._places]
        if wanted:
            self._fetch(wanted)
        return log_store.read_processes(
            process_ids, job_id=job_id, state_dir=self.state_dir, tail=tail
        )

    def close(self) -> None:
        """End the link; processes on the nodes go on."""
        self.link.close()

    def _fetch(self, process_ids: Collection[str]) -> None:
        """Fetch as much as can be fetched now: whoever reads logs reads what there is."""
        for node in {self._places[one] for one in process_ids}:
            with contextlib.suppress(HostUnavailable):
                seen, _ = self._look(node)
                self._catch_up(node, _logs(seen[node], process_ids), whole=False)

    def _node_of(self, process_id: str) -> str | None:
        if process_id not in self._places:
            self.list()
        return self._places.get(process_id)

    def _look(self, *nodes: str) -> tuple[dict[str, tuple[_ProcessOnNode, ...]], dict[str, str]]:
        """What runs on each of these nodes that answers; why others do not.

        Raises:
            HostUnavailable: none answers.
        """
        if not nodes:
            self._give_all_back()
            return {}, {}
        look = wire.question("look")
        answers, silent = self._ask(dict.fromkeys(nodes, look), slots=self.nodes())
        seen = {}
        for node, answer in answers.items():
            try:
                seen[node] = tuple(_read(answer["answer"], node))
            except (KeyError, TypeError, ValueError) as problem:
                silent[node] = f"its agent says what nobody understands: {problem!r}"
        if not seen:
            raise _unavailable(silent)
        return seen, silent

    def _give_all_back(self) -> None:
        """Let the link know that there is no node any more, if there is a link that had some."""
        if self.link.is_begun:
            with contextlib.suppress(HostUnavailable):  # the next look says it again
                self._ask({}, slots={})

    def _copy_later(self, node: str, logs: Sequence[NodeLog]) -> None:
        if self._copies.are_behind(logs):
            self._copying.begin(node, lambda: self._catch_up(node, logs, whole=False))

    def _catch_up(self, node: str, logs: Sequence[NodeLog], *, whole: bool) -> None:
        """Raises: HostUnavailable, OSError."""

        def read(log: NodeLog, position: int) -> LogPortion | None:
            answer = self._ask_one(
                node,
                "read_log",
                job_id=log.job_id,
                process_id=log.process_id,
                position=position,
            )
            return None if answer is None else wire.portion_of(answer)

        seconds = max(_COPY_SECONDS if whole else 1.0, self.answer_seconds if whole else 0.0)
        is_done = self._copies.catch_up(node, logs, read, seconds=seconds)
        if whole and not is_done:
            raise HostUnavailable(f"The log of a process on {node} is still being copied.")

    def _ask_one(self, node: str, call: str, *, seconds: float | None = None, **more: Any) -> Any:
        """Raises: HostUnavailable, LaunchRefused."""
        question = {node: wire.question(call, **more)}
        answers, silent = self._ask(question, seconds=seconds)
        if silent:
            raise _unavailable(silent)
        if "refused" in answers[node]:
            raise LaunchRefused(answers[node]["refused"])
        return answers[node]["answer"]

    def _ask(
        self,
        questions: Mapping[str, str],
        *,
        slots: Mapping[str, int] | None = None,
        seconds: float | None = None,
    ) -> tuple[dict[str, Answers], dict[str, str]]:
        """Return who answered what, and who is silent, for which reason.

        Raises:
            HostUnavailable: there is no link to Ray.
        """
        patience = self.answer_seconds if seconds is None else seconds
        request = {"questions": questions, "slots": slots, "seconds": patience}
        reply = self.link.ask(request, seconds=patience + _MARGIN_SECONDS)
        if "trouble" in reply:
            raise HostUnavailable(f"the link to Ray failed: {reply['trouble']}")
        answers, silent = dict(reply["answers"]), dict(reply["silent"])
        for node in [node for node, answer in answers.items() if "unavailable" in answer]:
            silent[node] = answers.pop(node)["unavailable"]
        return answers, silent


def _check(launch: Launch) -> None:
    """Raises: LaunchRefused."""
    if not launch.command:
        raise LaunchRefused("The command is empty.")
    if launch.image is not None:
        raise LaunchRefused(
            f"Processes on Ray nodes have no image of their own, and this job asks for"
            f" {launch.image}. Have a group of Ray nodes started from that image, as a pool, and"
            " submit there without `image`."
        )


def _read(rows: Sequence[Mapping[str, Any]], node: str) -> Iterator[_ProcessOnNode]:
    """Read what an agent lists, but for names that are none: they would become those of files.

    Raises:
        KeyError, TypeError, ValueError: it is no list of processes.
    """
    for row in rows:
        process = wire.process_of(row, node=node)
        ids = (process.labels.job_id, process.labels.process_id)
        if all(map(_NAME.fullmatch, ids)):
            job_id, process_id = ids
            log = NodeLog(job_id=job_id, process_id=process_id, end=int(row["log_end"]))
            yield _ProcessOnNode(process=process, log=log)


def _logs(
    seen: Sequence[_ProcessOnNode], process_ids: Collection[str] | None = None
) -> tuple[NodeLog, ...]:
    """Those of all, or of these."""
    logs = [one.log for one in seen]
    return tuple(log for log in logs if process_ids is None or log.process_id in process_ids)


def _unavailable(silent: Mapping[str, str]) -> HostUnavailable:
    said = "; ".join(f"{node}: {why}" for node, why in sorted(silent.items()))
    return HostUnavailable(said, silent_nodes=silent)
