"""A node that says what it should not harms nobody but itself. No Ray is needed: only its words."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cluster.gpu_listing import Gpu, visible
from cluster.ray_host import wire
from cluster.ray_host.host import RayHost
from cluster.ray_host.link_process import Link
from cluster.worker_host import HostUnavailable, ObservedProcess, ProcessPhase

from tests.contract.conftest import labels

GOOD = {
    **wire.of_process(
        ObservedProcess(
            labels=labels("w1"),
            node="n1",
            phase=ProcessPhase.RUNNING,
            started_at=datetime(2026, 11, 26, tzinfo=UTC),
        )
    ),
    "log_end": 0,
}


def host(tmp_path: Path, **answers: Any) -> RayHost:
    """Its link is a program that answers all questions with the same: each node's list."""
    told = {"answers": {node: {"answer": rows} for node, rows in answers.items()}, "silent": {}}
    line = json.dumps(told)[1:].replace("\\", "\\\\")
    script = (
        "read -r line; n=1;"
        ' echo "{\\"number\\": 1}";'
        " while read -r line; do n=$((n + 1));"
        f" printf '{{\"number\": %d, %s\\n' $n '{line}'; done"
    )
    link = Link(command=("sh", "-c", script), env={"PATH": "/usr/bin:/bin"}, options={})
    nodes = dict.fromkeys(answers, 1)
    return RayHost(state_dir=tmp_path, link=link, nodes=lambda: nodes, answer_seconds=60.0)


def named(**changes: str) -> dict[str, Any]:
    return {**GOOD, "labels": {**GOOD["labels"], **changes}, "log_end": 10}


def test_what_is_understood_is_listed(tmp_path: Path) -> None:
    one = host(tmp_path, n1=[GOOD])
    assert set(one.list().by_id()) == {"w1"}
    one.close()


@pytest.mark.parametrize("rows", [[{}], [1], 5, [{**GOOD, "phase": "sleeping"}], [None]])
def test_a_node_that_nobody_understands_is_silent_and_others_answer(
    tmp_path: Path, rows: Any
) -> None:
    one = host(tmp_path, n1=[GOOD], n2=rows)
    listing = one.list()
    assert set(listing.by_id()) == {"w1"}
    assert "nobody understands" in listing.silent_nodes["n2"]
    one.close()
    alone = host(tmp_path, n2=rows)
    with pytest.raises(HostUnavailable, match="nobody understands"):
        alone.list()
    alone.close()


@pytest.mark.parametrize(
    "row",
    [
        named(process_id="../../etc/passwd"),
        named(job_id="../.."),
        named(job_id="/etc"),
        named(process_id=""),
        named(process_id=".hidden"),
        named(process_id="x" * 300),
    ],
)
def test_names_that_would_lead_to_other_files_are_no_processes(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    one = host(tmp_path, n1=[row, GOOD])
    assert set(one.list().by_id()) == {"w1"}
    one.close()


def test_gpus_are_those_that_ray_gave_us_in_its_order() -> None:
    gpus = tuple(Gpu(index=number, name="H100", uuid=f"GPU-{number}") for number in range(4))
    assert visible(gpus, None) == gpus
    assert visible(gpus, "2,0") == (gpus[2], gpus[0])
    assert visible(gpus, "GPU-3") == (gpus[3],)
    assert visible(gpus, "") == ()
