"""Do recordings become the traces they describe, and bad ones a sentence that helps?"""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace

import pytest

from autoscaler.planning.snapshot.job_terms import BatchRange, JobTerms, Utility
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.planning.speed.throughput import ThroughputModel
from autoscaler.simulation.engine.replay.planner_view import submission_of
from autoscaler.simulation.engine.workload.applications import CIFAR10, IMAGENET, NCF, PROFILES
from autoscaler.simulation.engine.workload.arrivals import Poisson
from autoscaler.simulation.engine.workload.generators import WorkloadRecipe, generate
from autoscaler.simulation.engine.workload.importers.concertina_csv import from_csv, to_csv
from autoscaler.simulation.engine.workload.importers.concertina_json import from_json, to_json
from autoscaler.simulation.engine.workload.importers.history import HistoryRow, trace_of_history
from autoscaler.simulation.engine.workload.importers.pollux import read_pollux
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError
from autoscaler.simulation.engine.workload.trace import InvalidTraceError, Trace
from tests.simulation.workloads import LINEAR, job, model, trace

FULL = job(
    "with everything",
    at=1 / 3,
    team="vision, and others",
    profile=CIFAR10,
    samples=1e6 / 7,
    declared_samples=3,
    min_workers=2,
    max_workers=8,
    allowed_workers=(2, 4, 8),
    gpus_per_worker=2,
    batch=BatchRange(base=64, minimum=32, maximum=128, multiple_of=8, max_per_gpu=32),
    priority=70,
    preemptibility=Preemptibility.SEMI_PREEMPTIBLE,
    deadline=1e4 / 3,
    requested_workers=4,
    utility=Utility(points=((0.0, 100.5), (3600.0, -1 / 3))),
    min_interval_seconds=0.1,
)
STEPPED = job("stepped", profile=NCF, batch=NCF.batch, min_workers=2, max_workers=10, worker_step=4)
BARE = job("bare", profile=NCF, batch=NCF.batch, declared_samples=None)
GENERATED = generate(
    WorkloadRecipe(
        arrivals=Poisson(per_second=0.1), jobs=30, undeclared=0.5, deadline_slack=(1, 3)
    ),
    seed=3,
)


@pytest.mark.parametrize("written", [trace(FULL, STEPPED, BARE), trace(), GENERATED])
def test_what_was_written_is_read_again(written: Trace) -> None:
    assert from_json(to_json(written)) == written
    assert from_csv(to_csv(written), name=written.name) == written


def test_json_carries_profiles_nobody_else_knows() -> None:
    own = trace(job("a", profile=LINEAR))
    assert from_json(to_json(own)) == own
    with pytest.raises(InvalidTraceError, match="profile linear of job a is not known: write JSON"):
        to_csv(own)


def test_a_csv_needs_four_columns_only() -> None:
    (one,) = from_csv("name,submitted_at,profile,samples\na,5,ncf,1000\n").jobs
    assert (one.team, one.pool, one.max_workers, one.batch) == (
        "everybody",
        "default",
        1,
        NCF.batch,
    )


def test_a_pollux_workload_is_full_runs_of_its_applications() -> None:
    header = "time,name,application,num_replicas,batch_size"
    text = f"{header}\n38,c-0,cifar10,2,512\n40,i-1,imagenet-resnet50,8,1600\n"
    cifar, imagenet = read_pollux(text).jobs
    assert (cifar.profile, imagenet.profile) == (CIFAR10, IMAGENET)
    assert (cifar.submitted_at, cifar.samples) == (38.0, 5_000_000)
    assert (cifar.requested_workers, cifar.batch) == (2, CIFAR10.batch)
    fixed = read_pollux(text, fixes_batch=True).jobs[0].batch
    assert (fixed.minimum, fixed.base, fixed.maximum) == (512, 512, 512)


NO_TIME = ThroughputModel(
    compute_fixed=0.0,
    compute_per_sample=0.0,
    in_node_fixed=0.0,
    in_node_per_worker=0.0,
    cross_node_fixed=0.0,
    cross_node_per_worker=0.0,
    overlap=1.0,
)


def row(name: str, at: float, **overrides: object) -> HistoryRow:
    scaling = ScalingModel(throughput=model())
    values: dict[str, object] = {"scaling": scaling, "samples": 1000.0, "batch": LINEAR.batch}
    terms = {"name": name, "team": "vision", "pool": "default", "submitted_at": at}
    return HistoryRow(**terms | values | overrides)  # type: ignore[arg-type]


def test_our_own_past_becomes_a_trace_that_starts_at_zero() -> None:
    past = trace_of_history(
        [
            row("b", at=1e9 + 60, deadline=1e9 + 100, noise_scale=300.0),
            row("a", at=1e9),
            row("a", at=1e9 + 90),
            row("never measured", at=1e9 - 5, scaling=None),
            row("never trained", at=1e9 - 5, samples=0.0),
        ]
    )
    assert [(j.name, j.submitted_at) for j in past.jobs] == [("a", 0), ("b", 60), ("a#2", 90)]
    assert past.jobs[1].deadline == 100.0
    assert past.jobs[1].profile.noise == ((0.0, 300.0),)
    assert past.jobs[0].profile.model == model()
    assert from_json(to_json(past)) == past


def test_every_term_of_a_job_is_replayed() -> None:
    terms: dict[str, object] = {
        "team": "ann",
        "pool": "a100",
        "batch": BatchRange(base=64, minimum=32, maximum=256, multiple_of=8),
        "min_workers": 2,
        "max_workers": 10,
        "worker_step": 4,
        "gpus_per_worker": 2,
        "priority": 70,
        "preemptibility": Preemptibility.NON_PREEMPTIBLE,
        "deadline": 5000.0,
        "requested_workers": 6,
        "utility": Utility(points=((0.0, 10.0), (60.0, 0.0))),
        "min_interval_seconds": 30.0,
        "user": "ann",
    }
    past = trace_of_history([row("a", at=0.0, **terms)])
    again = submission_of(from_json(to_json(past)).jobs[0])
    assert {name: getattr(again, name) for name in terms} == terms
    assert {term.name for term in fields(JobTerms)} - terms.keys() == {
        "name",
        "submitted_at",
        "allowed_workers",  # excludes `worker_step`
    }


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (
            "a,0,resnet,5",
            f"column profile: 'resnet'; expected one of {', '.join(sorted(PROFILES))}",
        ),
        ("a,-1,ncf,5", "column submitted_at: '-1'; expected a number of at least 0"),
        ("a,0,ncf,5,maybe", "column preemptibility: 'maybe'; expected one of preemptible"),
        ("a,0,ncf,5,,1 x", "column allowed_workers: '1 x'; expected whole numbers"),
        ("a,0,ncf,5,,,9", "column utility: '9'; expected points"),
    ],
)
def test_a_bad_cell_of_our_own_format_is_named(cells: str, problem: str) -> None:
    header = "name,submitted_at,profile,samples,preemptibility,allowed_workers,utility"
    with pytest.raises(InvalidRecordingError, match=problem):
        from_csv(f"{header}\n{cells}\n")


def test_a_misspelt_column_of_our_own_format_is_refused() -> None:
    with pytest.raises(InvalidRecordingError, match="column 'mx_workers' is none of: name, team"):
        from_csv("name,submitted_at,profile,samples,mx_workers\na,0,ncf,5,8\n")


def test_an_unknown_application_is_named() -> None:
    with pytest.raises(InvalidRecordingError, match="row 2, column application: 'gpt'; expected"):
        read_pollux("time,application,num_replicas\n0,gpt,1\n")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "other"}, '"format": "concertina-trace"'),
        ({"version": 9}, "version 9; expected 1"),
        ({"jobs": [{"name": "a"}]}, "job 1: 'profile' is missing or not known"),
        ({"jobs": [{"name": "a", "profile": "ncf", "colour": 1}]}, "job 1: .*colour"),
    ],
)
def test_a_bad_document_is_refused_with_its_part(change: dict[str, object], problem: str) -> None:
    document = json.loads(to_json(trace(BARE))) | change
    with pytest.raises(InvalidRecordingError, match=problem):
        from_json(json.dumps(document))


def test_what_is_not_json_is_no_trace() -> None:
    with pytest.raises(InvalidRecordingError, match="not JSON"):
        from_json("{")


@pytest.mark.parametrize(
    ("overrides", "problem"),
    [
        ({"samples": 0.0}, "samples must be above 0"),
        ({"min_workers": 3, "max_workers": 2}, "max_workers 2 is below min_workers 3"),
        ({"batch": BatchRange(base=64, minimum=128, maximum=256)}, "minimum <= base <= maximum"),
        ({"batch": BatchRange(base=64, minimum=64, maximum=64, multiple_of=0)}, "multiple_of"),
        ({"batch": BatchRange(base=64, minimum=64, maximum=64, max_per_gpu=0)}, "max_per_gpu"),
        ({"allowed_workers": (0, 9)}, "allowed_workers needs a number of 1 to"),
        ({"requested_workers": 0}, "requested_workers must be at least 1"),
        ({"min_interval_seconds": -1.0}, "min_interval_seconds must not be negative"),
        ({"samples": float("inf")}, "samples must be above 0"),
        ({"utility": Utility(points=((5.0, 1.0), (5.0, 0.0)))}, "points of rising seconds"),
        ({"utility": Utility(points=((5.0, math.nan),))}, "dollars that are numbers"),
        ({"team": ""}, "name, team and pool must not be empty"),
        ({"samples": 10**400}, "samples must be above 0 and at most 1e"),
        ({"at": 1e300}, "submitted_at must be 0 to"),
        ({"deadline": math.nan}, "deadline must be a time"),
        ({"priority": 10**40}, "priority must be 0 to 1000"),
        ({"profile": replace(LINEAR, noise=((0.0, math.nan),))}, "profile linear: noise needs"),
        ({"profile": replace(LINEAR, noise=((0.5, 1.0),))}, "profile linear: noise needs"),
        ({"profile": replace(LINEAR, restart_seconds=-1.0)}, "restart_seconds must be"),
        ({"profile": replace(LINEAR, model=NO_TIME)}, "a step of one worker must take"),
        (
            {"profile": replace(LINEAR, model=replace(LINEAR.model, overlap=0.0))},
            "overlap of its model must be 1 to",
        ),
    ],
)
def test_a_trace_no_cluster_could_have_seen_is_refused(
    overrides: dict[str, object], problem: str
) -> None:
    with pytest.raises(InvalidTraceError, match=problem):
        trace(job("a", **overrides))


def test_two_jobs_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidTraceError, match="two jobs of trace test are called a"):
        trace(job("a"), job("a"))
