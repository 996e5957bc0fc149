"""The worker host's twin for tests: nothing runs, tests say what happens to each process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from cluster.background.polled_events import polled
from cluster.following.roster import RosterKeeper
from cluster.shells.entrance import WorkerEntrance
from cluster.usage.readings import NodeGauge
from cluster.worker_host import (
    Failing,
    HostUnavailable,
    Launch,
    LaunchRefused,
    LogLine,
    NodeImage,
    NodeSurvey,
    ObservedProcess,
    ProcessListing,
    ProcessPhase,
)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True, kw_only=True)
class InMemoryHost:
    """Keeps the port's promises in memory.

    A process runs until the test calls `exit` or `lose`, or until `stop` ends it: at once with
    -15, or, when its id is in `deaf`, with -9 after the grace period on `clock`. Commands
    in `exit_codes_by_command` end at once. One whose image is in `fetching` is in preparation until
    the test calls `fetched`. While `is_unavailable`, every call fails; nodes in `silent` show none
    of their processes, which go on, and every call about those fails.
    """

    clock: Callable[[], datetime] = _now
    exit_codes_by_command: dict[str, int] = field(default_factory=dict)
    deaf: set[str] = field(default_factory=set)
    fetching: dict[str, str] = field(default_factory=dict)  # images, and how far they are
    is_unavailable: bool = False
    silent: dict[str, str] = field(default_factory=dict)  # nodes that do not answer, and why
    launches: list[Launch] = field(default_factory=list)
    stops: list[tuple[str, float]] = field(default_factory=list)
    wanted_ahead: tuple[NodeImage, ...] = ()  # as `fetch_ahead` was asked last
    missing: dict[str, str] = field(default_factory=dict)  # images that no node has, and why
    survey: NodeSurvey | None = None
    gauge: NodeGauge | None = None
    entrance: WorkerEntrance | None = None
    roster_keeper: RosterKeeper | None = None
    _processes: dict[str, ObservedProcess] = field(default_factory=dict)
    _kill_at: dict[str, float] = field(default_factory=dict)
    _lines: list[LogLine] = field(default_factory=list)

    def start(self, *launches: Launch) -> None:
        self._check()
        if not all(launch.command for launch in launches):
            raise LaunchRefused("The command is empty.")
        for launch in launches:
            self._check_node(launch.node)
        for launch in launches:
            self._start(launch)

    def _start(self, launch: Launch) -> None:
        process_id = launch.labels.process_id
        if process_id in self._processes:
            return
        self.launches.append(launch)
        is_fetched = launch.image not in self.fetching
        self._processes[process_id] = ObservedProcess(
            labels=launch.labels,
            node=launch.node,
            phase=ProcessPhase.RUNNING if is_fetched else ProcessPhase.PREPARING,
            started_at=self.clock(),
        )
        if launch.command[0] in self.exit_codes_by_command:
            self.exit(process_id, self.exit_codes_by_command[launch.command[0]])

    def stop(self, process_id: str, *, grace_seconds: float) -> None:
        self._check()
        self._check_node_of(process_id)
        self.stops.append((process_id, grace_seconds))
        if not self._is_there(process_id):
            return
        if process_id not in self.deaf:
            self.exit(process_id, -15)
            return
        kill_at = self.clock().timestamp() + grace_seconds
        self._kill_at[process_id] = min(self._kill_at.get(process_id, kill_at), kill_at)

    def forget(self, process_id: str) -> None:
        self._check()
        self._check_node_of(process_id)
        if not self._is_there(process_id):
            self._processes.pop(process_id, None)

    def list(self) -> ProcessListing:
        self._check()
        now = self.clock().timestamp()
        for process_id, kill_at in list(self._kill_at.items()):
            if now >= kill_at and self._is_running(process_id):
                self.exit(process_id, -9)
        heard = (one for one in self._processes.values() if one.node not in self.silent)
        return ProcessListing(
            processes=tuple(map(self._with_note, heard)), silent_nodes=dict(self.silent)
        )

    def fetch_ahead(self, *wanted: NodeImage) -> Mapping[NodeImage, str]:
        """All at once."""
        self._check()
        self.wanted_ahead = wanted
        return {
            one: self.missing.get(one.image, "") for one in wanted if one.node not in self.silent
        }

    def events(self, *, poll_seconds: float) -> Iterator[ObservedProcess]:
        return polled(self.list, poll_seconds=poll_seconds)

    def logs(
        self,
        process_ids: tuple[str, ...],
        *,
        job_id: str,  # noqa: ARG002 - ids are unique for ever
        tail: int | None = None,
    ) -> Iterator[LogLine]:
        self._check()
        wanted = [line for line in self._lines if line.process_id in process_ids]
        lines = sorted(wanted, key=lambda line: line.at)
        return iter(lines if tail is None else lines[len(lines) - min(tail, len(lines)) :])

    def exit(
        self,
        process_id: str,
        exit_code: int | None,
        *,
        failing: Failing | None = None,
        note: str = "",
    ) -> None:
        """The process ends with this code; None: it never ran."""
        self._kill_at.pop(process_id, None)
        self._processes[process_id] = replace(
            self._processes[process_id],
            phase=ProcessPhase.EXITED,
            exit_code=exit_code,
            ended_at=self.clock(),
            failing=failing,
            note=note,
        )

    def fetched(self, image: str) -> None:
        """The image is there: who waited for it runs."""
        del self.fetching[image]
        for process_id, process in self._processes.items():
            is_waiting = process.phase is ProcessPhase.PREPARING
            if is_waiting and self.launch_of(process_id).image == image:
                self._processes[process_id] = replace(
                    process, phase=ProcessPhase.RUNNING, started_at=self.clock()
                )

    def lose(self, process_id: str) -> None:
        """The process vanishes without a trace, as with a machine that burnt down."""
        del self._processes[process_id]

    def write(self, process_id: str, text: str, *, stream: str = "stdout") -> None:
        """The process writes a line."""
        line = LogLine(at=self.clock(), process_id=process_id, stream=stream, text=text)
        self._lines.append(line)

    def running(self) -> set[str]:
        """Ids of the processes that run."""
        return {process_id for process_id in self._processes if self._is_running(process_id)}

    def launch_of(self, process_id: str) -> Launch:
        """The newest launch of this process."""
        return next(
            launch for launch in reversed(self.launches) if launch.labels.process_id == process_id
        )

    def _with_note(self, process: ObservedProcess) -> ObservedProcess:
        if process.phase is not ProcessPhase.PREPARING:
            return process
        image = self.launch_of(process.labels.process_id).image or ""
        return replace(process, note=self.fetching[image])

    def _is_there(self, process_id: str) -> bool:
        process = self._processes.get(process_id)
        return process is not None and process.phase is not ProcessPhase.EXITED

    def _is_running(self, process_id: str) -> bool:
        process = self._processes.get(process_id)
        return process is not None and process.phase is ProcessPhase.RUNNING

    def _check_node_of(self, process_id: str) -> None:
        if process := self._processes.get(process_id):
            self._check_node(process.node)

    def _check_node(self, node: str) -> None:
        if node in self.silent:
            said = f"{node}: {self.silent[node]}"
            raise HostUnavailable(said, silent_nodes={node: said})

    def _check(self) -> None:
        if self.is_unavailable:
            said = "The in-memory host was told not to answer."
            raise HostUnavailable(said, silent_nodes=dict(self.silent))
