"""What can a person ask of the local stack? The commands, their options and their help.

Standard library only: `./dev --help` must answer on a machine where nothing is installed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from local_stack.chaos.faults import Component

if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - its only name

MOST_FAULTS = 10_000
LONGEST = 600

OVERVIEW = """\
Concertina on this machine: everything it needs, in one command.

  ./dev demo       watch four real training jobs of two teams share this machine
  ./dev test       run the whole test suite
  ./dev chaos      break its components, and see what each costs the trainings
  ./dev soak       load it with simulated jobs, and see whether it stays as it is

  ./dev up         start the service and leave it running until Ctrl-C
  ./dev status     what runs, where, since when
  ./dev logs       what the processes wrote
  ./dev down       stop the service from another terminal
  ./dev manage     run one of the service's own commands, such as `contradictions`
  ./dev doctor     check this machine and say what to do about what is missing
  ./dev clean      remove databases, logs and checkpoints of this checkout

The first run sets things up: a virtual environment, the pinned dependencies, the dashboard.
Later runs skip what is done. PostgreSQL and Valkey come along; to use servers of your own, set
DATABASE_URL and REDIS_URL. `./dev COMMAND --help` shows a command's options.
"""


def parser() -> argparse.ArgumentParser:
    """The parser; its `command` is one of the words above."""
    made = argparse.ArgumentParser(
        prog="./dev",
        usage="./dev COMMAND [OPTIONS]",
        description=OVERVIEW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(dest="command", prog="./dev", metavar="", help=argparse.SUPPRESS)
    _add_demo(commands)
    _add_up(commands)
    _add_supervise(commands)
    _add_test(commands)
    _add_chaos(commands)
    _add_soak(commands)
    commands.add_parser("set-up", description="Only the set-up that demo, up and test begin with.")
    commands.add_parser("lint", description="ruff, formatting, types and import contracts.")
    commands.add_parser("status", description="What runs, where, since when.")
    _add_logs(commands)
    commands.add_parser(
        "down", description="Stop the service and its training processes, in order."
    )
    commands.add_parser(
        "doctor", description="Check this machine; exit 1 if something must change."
    )
    _add_manage(commands)
    _add_clean(commands)
    return made


def _add_demo(commands: _Commands) -> None:
    demo = commands.add_parser(
        "demo", description="Train real models of two teams and watch them share this machine."
    )
    demo.add_argument(
        "--exit", action="store_true", help="stop everything after the summary (for scripts)"
    )
    _add_slots(demo)
    _add_host(demo, "process", "docker", "ray")


def _add_up(commands: _Commands) -> None:
    up = commands.add_parser("up", description="Start the service; Ctrl-C stops it.")
    up.add_argument(
        "-d", "--detach", action="store_true", help="return when it is ready; ./dev down stops it"
    )
    _add_run(up)


def _add_supervise(commands: _Commands) -> None:
    """Add what `up --detach` and `demo` run in the background; no command for people."""
    supervise = commands.add_parser("supervise")
    supervise.add_argument("--measured", action="store_true", help="count statements")
    _add_run(supervise)


def _add_run(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--tick-seconds",
        type=float,
        default=5.0,
        metavar="S",
        help="how often the planner looks at the cluster (default: %(default)s)",
    )
    _add_slots(command)
    _add_host(command, "process", "docker", "ray", "simulated")


def _add_host(command: argparse.ArgumentParser, *hosts: str) -> None:
    command.add_argument(
        "--host",
        choices=hosts,
        default="process",
        help="what jobs run as: processes of this machine, containers, processes on the nodes of a"
        " Ray cluster that is started here, or, where that is a choice, a simulation, of which a"
        " laptop takes a thousand (default: %(default)s)",
    )


def _add_slots(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--slots",
        type=int,
        metavar="N",
        help="how many workers may train at once (default: one for each GPU, without GPUs 4; in"
        " the demo at least 4); more than there are GPUs share them",
    )


def _add_test(commands: _Commands) -> None:
    test = commands.add_parser(
        "test",
        description="Lint, type-check and test everything. Arguments go to pytest, which then"
        " runs alone: ./dev test tests/planning -k reclaim",
    )
    test.add_argument(
        "--thorough",
        action="store_true",
        help="also the whole of what the suite else takes a sample of: minutes more",
    )
    test.add_argument("pytest_arguments", nargs=argparse.REMAINDER, metavar="PYTEST ARGUMENTS")


def _add_chaos(commands: _Commands) -> None:
    chaos = commands.add_parser(
        "chaos",
        description="Start a stack of its own (or use the one that is up: --running), train small"
        " elastic jobs on it, kill -9 and freeze (SIGSTOP) its components singly and in pairs, fill"
        " and hang its disk, cut its network, and check after each that nothing is lost, doubled or"
        " counted twice. Prints what each cost. Exit code 1 if anything did not hold or come back.",
        epilog="Tried: the processes of the service, PostgreSQL, Valkey, the supervisors, zygotes,"
        " coordinators and workers, with jobs as processes of this machine; as root on Linux also"
        " the disk and the network, each of the stack alone. With --docker: Docker's daemon,"
        " a lost node, and what runs there. Not tried: a clock that jumps. 80 faults took 20"
        " minutes on two busy cores.",
    )
    chaos.add_argument(
        "--faults", type=_count, default=20, metavar="N", help="how many (default: %(default)s)"
    )
    chaos.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="S",
        help="the same seed makes the same choices (default: %(default)s)",
    )
    chaos.add_argument(
        "--only",
        type=_count,
        action="append",
        default=[],
        metavar="NUMBER",
        help="of those that the seed chooses, this strike alone; may be repeated",
    )
    chaos.add_argument(
        "--freeze-seconds",
        type=_seconds,
        default=30.0,
        metavar="S",
        help="the longest freeze, full disk or cut; others take a third or a sixth of it (default:"
        " %(default)s)",
    )
    chaos.add_argument(
        "--component",
        type=_component,
        action="append",
        default=[],
        metavar="NAME",
        help="hit only this, of " + ", ".join(one.word for one in Component) + "; may be repeated",
    )
    _add_way_of_chaos(chaos)


def _add_way_of_chaos(chaos: argparse.ArgumentParser) -> None:
    chaos.add_argument(
        "--minutes", type=_seconds, metavar="M", help="begin no other strike after so many"
    )
    where = chaos.add_mutually_exclusive_group()
    where.add_argument(
        "--running",
        action="store_true",
        help="use the stack of this checkout that is up, and hit neither other people's jobs nor"
        " its supervisor, disk and network; asks first",
    )
    chaos.add_argument("--yes", action="store_true", help="with --running: do not ask")
    where.add_argument(
        "--docker",
        action="store_true",
        help="train in containers on two nodes, each a Docker daemon of its own, and hit these: a"
        " daemon, a whole node, what runs there, and control (root)",
    )
    chaos.add_argument(
        "--double", action="store_true", help="run a second api, beat and control beside"
    )
    chaos.add_argument("--json", action="store_true", help="print one document for programs")


def _add_soak(commands: _Commands) -> None:
    soak = commands.add_parser(
        "soak",
        description="Start a stack of its own, whose machines are simulated, and have jobs arrive,"
        " rescale, fail, pause and finish on it, beside two real ones. Prints whether memory,"
        " queues, ticks and answers stayed within bounds, and writes a page with charts. Stops by"
        " itself. Exit code 1 if anything did not hold.",
    )
    soak.add_argument(
        "--jobs", type=_count, default=100, metavar="N", help="live at once (default: %(default)s)"
    )
    soak.add_argument(
        "--minutes", type=_seconds, default=5.0, metavar="M", help="(default: %(default)s)"
    )
    soak.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="S",
        help="the same seed makes the same choices (default: %(default)s)",
    )
    soak.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="where the page goes (default: soak.html in the checkout's folder of state)",
    )


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= MOST_FAULTS:
        raise argparse.ArgumentTypeError(f"{text} is not within 1 … {MOST_FAULTS}")
    return number


def _component(text: str) -> Component:
    for one in Component:
        if one.word == text:
            return one
    raise argparse.ArgumentTypeError(
        f"{text} is none of {', '.join(one.word for one in Component)}"
    )


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text} is not within 0 … {LONGEST}")
    return number


def _add_logs(commands: _Commands) -> None:
    logs = commands.add_parser("logs", description="What the processes of the service wrote.")
    logs.add_argument("-f", "--follow", action="store_true", help="go on until Ctrl-C")
    logs.add_argument("-n", "--lines", type=int, default=20, metavar="N", help="last N lines each")
    logs.add_argument("process", nargs="?", help="api, beat, control, io, postgres, valkey, …")


def _add_manage(commands: _Commands) -> None:
    manage = commands.add_parser(
        "manage",
        description="Run one of the commands of manage.py on the service that is up: ./dev manage"
        " contradictions. Without arguments it lists them. It has the database and the keys of that"
        " service, but not its Docker host: to it, jobs run as processes.",
    )
    manage.add_argument("arguments", nargs=argparse.REMAINDER, metavar="COMMAND AND ARGUMENTS")


def _add_clean(commands: _Commands) -> None:
    clean = commands.add_parser(
        "clean", description="Stop the service and remove what it keeps in this checkout."
    )
    clean.add_argument("-y", "--yes", action="store_true", help="do not ask")
    clean.add_argument(
        "--all", action="store_true", help="also the virtual environment and the dashboard build"
    )
