"""How is a set-up written as a file, so that people find their way and read the same again?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    import yaml

    from concertina.documents import Setup

_HEAD: Final = """\
# What is set up, as `concertina admin export` writes it. Change it, then
#   concertina admin apply -f FILE --dry-run --as USER   shows what would change
#   concertina admin apply -f FILE --as USER             changes it
# What is left out stays as it is; with --prune it is removed from the parts that are named here.
# Not in here: people, tokens, secrets, webhooks, and which nodes are cordoned or drained.
"""
_COMMENTS: Final = {  # by the beginning of a line; deeper lines have more blanks
    "pools:": "GPUs of one type, planned together, by name.",
    "teams:": "Who shares a guarantee of GPUs, by name.",
    "images:": "What everybody's jobs may run; * stands for any characters. Each team has its own.",
    "    policy:": "What the planner makes the most of, and what differs from its defaults.",
    "    all_reduce:": "Measured times of an all-reduce; empty: guessed.",
    "    ray_selector:": "Labels of a Ray cluster's machines that are its nodes; empty: none.",
    "    nodes_min:": "It asks its cluster for machines, up to nodes_max; null: for none.",
    "    teams_trust_each_other:": "Needed for several teams where their jobs are one user.",
    "    fair_share:": "How idle GPUs are shared out, and how they come back.",
    "    prefetched_images:": "Fetched to its nodes before any job names them.",
    "    nodes:": "Its machines.",
    "    parent:": "The team above it.",
    "    network:": "What its jobs may ask for, and the hosts for `listed`.",
    "    limits:": "Of the team as a whole; null: none.",
    "    quotas:": "What it may use of each pool.",
    "    images:": "What its jobs may run, beside what everybody's may.",
}
_PRECISE: Final = 1e15  # below it each whole number has a float of its own


def setup_text(setup: Setup) -> str:
    """Return the set-up as YAML. The first time that something comes, it says what it is."""
    import yaml  # noqa: PLC0415 - few ask for it, and it takes a while to load

    from concertina.input.yaml_documents import value_of  # noqa: PLC0415 - likewise

    class Dumper(yaml.SafeDumper):
        """Quotes each text that would be read as something else."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        try:
            is_plain = value_of(value) == value
        except ValueError:
            is_plain = False
        style = None if is_plain else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    def number(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
        is_whole = value.is_integer() and abs(value) < _PRECISE
        return dumper.represent_int(int(value)) if is_whole else dumper.represent_float(value)

    Dumper.add_representer(str, text)
    Dumper.add_representer(float, number)
    Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]
    written = yaml.dump(
        setup, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10_000, indent=2
    )
    return _HEAD + "".join(_commented(written.removesuffix("\n").split("\n")))


def _commented(lines: list[str]) -> Iterator[str]:
    told: set[str] = set()
    for line in lines:
        own = line[: len(line) - len(line.lstrip())]
        beginning = own + line.lstrip().partition(":")[0] + ":"
        if not own and beginning in _COMMENTS:
            yield "\n"
        if beginning in _COMMENTS and beginning not in told:
            told.add(beginning)
            yield f"{own}# {_COMMENTS[beginning]}\n"
        yield f"{line}\n"
