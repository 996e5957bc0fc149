"""Do logs of inelastic clusters, as they are published, become workloads of elastic jobs?"""

from __future__ import annotations

import json

import pytest

from autoscaler.planning.policies import BUILT_IN
from autoscaler.simulation.engine.comparison.feasibility import endless_in
from autoscaler.simulation.engine.truth.isolation import seconds_per_sample
from autoscaler.simulation.engine.workload.applications import CIFAR10, IMAGENET, NCF
from autoscaler.simulation.engine.workload.importers.cluster_log import read_log
from autoscaler.simulation.engine.workload.importers.pai import COLUMNS, read_pai
from autoscaler.simulation.engine.workload.importers.philly_json import read_philly_json
from autoscaler.simulation.engine.workload.importers.recording import Recording
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError
from tests.simulation.workloads import pool, settings

LOG = """\
job_id,submit_time,duration,gpus,user
one,2017-10-03 05:00:00,3000,1,ann
two,2017-10-03 05:10:00,360000,16,bob
short,2017-10-03 04:00:00,30,1,ann
"""


def test_a_log_keeps_times_users_and_gpu_time() -> None:
    one, two = read_log(LOG, name="log", gpus_per_node=8).trace.jobs
    assert (one.submitted_at, two.submitted_at) == (0.0, 600.0)
    assert (one.team, two.team) == ("ann", "bob")
    assert one.profile in (CIFAR10, NCF)
    assert two.profile is IMAGENET
    assert (two.requested_workers, two.max_workers) == (16, 64)
    pace = seconds_per_sample(
        IMAGENET, IMAGENET.batch, workers=16, crosses_nodes=True, counts_noise=False
    )
    assert two.samples * pace == pytest.approx(360_000)


def test_a_job_on_more_gpus_than_its_kind_has_samples_still_has_its_work() -> None:
    (job,) = read_log("time,duration,gpus\n0,60,1000\n", name="log").trace.jobs
    assert job.profile.batch.maximum < 1000
    assert job.samples > 1000


@pytest.mark.parametrize("policy", BUILT_IN.names)
@pytest.mark.parametrize("hours", [0.5, 5, 50, 500])
def test_every_policy_can_run_what_was_recorded(hours: float, policy: str) -> None:
    sizes = (1, 8, 64, 128)
    rows = "".join(f"0,{3600 * hours / gpus},{gpus}\n" for gpus in sizes)
    recorded = read_log(f"time,duration,gpus\n{rows}", name="log").trace
    assert len(recorded.jobs) >= 2
    assert endless_in(recorded, settings(pool(*[8] * 32, policy=policy))) is None


HELIOS = (
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "1,ua,v1,8,32,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:42:01,2020-06-09 19:42:01,3600,60\n"
    "2,ub,v2,0,4,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0\n"
    "3,ub,v2,1,4,1,CANCELLED,2020-06-09 18:41:28,2020-06-09 18:41:28,2020-06-09 18:41:30,2,0\n"
)
ACME = (
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
    "queue,gpu_time\n"
    "5,ua,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 00:18:54+08:00,"
    "2023-03-01 01:18:54+08:00,3600,32,28800.0\n"
)
PHILLY_OF_POLLUX = (
    "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-07 01:11:39,3600.0,8,28800.0,ee9e\n"
)
PHILLY_OF_HELIOS = (
    "user,vc,jobname,gpu_num,state,submit_time,start_time,end_time,duration,queue\n"
    "u,v,application_1,8,Pass,2017-10-01 00:00:00,2017-10-01 00:00:01,2017-10-01 01:00:01,3600,1\n"
)
SAMPLE_OF_PAI = (
    "job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user\n1,1,0,6.0,8,V100,3600,u\n"
)
SIMULATED = (
    "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n1,8,0,9,vgg16,3600,1\n"
)
NO_APPLICATION = (
    "time,name,num_replicas,batch_size,duration,submission_time\n"
    "9,a,8,512,3600,2017-10-07 01:11:39\n"
)
BOTH_ENDS = "submit_time,start_time,end_time,num_gpus\n0,100,3700,8\n"


@pytest.mark.parametrize(
    "text",
    [
        HELIOS,
        ACME,
        PHILLY_OF_POLLUX,
        PHILLY_OF_HELIOS,
        SAMPLE_OF_PAI,
        SIMULATED,
        NO_APPLICATION,
        BOTH_ENDS,
    ],
)
def test_published_columns_are_understood(text: str) -> None:
    (job,) = read_log(text, name="log").trace.jobs
    assert (job.submitted_at, job.requested_workers) == (0.0, 8)
    pace = seconds_per_sample(
        job.profile, job.profile.batch, workers=8, crosses_nodes=False, counts_noise=False
    )
    assert job.samples * pace == pytest.approx(3600)


def test_what_is_left_out_is_counted_by_why() -> None:
    recording = read_log(HELIOS, name="helios")
    assert recording.left_out == {"used no GPU": 1, "ran for less than 60 s": 1}
    assert recording.summary() == (
        "A log of a cluster, by its columns submit_time, duration, gpu_num, user, job_id: 1 job;"
        " left out 1 that used no GPU; left out 1 that ran for less than 60 s."
    )


def test_a_part_of_a_gpu_counts_as_a_whole_one_and_is_told() -> None:
    recording = read_log("submit,duration,gpus\n0,60,1.5\n0,60,2\n", name="log")
    assert [job.requested_workers for job in recording.trace.jobs] == [2, 2]
    assert "1 held a part of a GPU" in recording.summary()


@pytest.mark.parametrize("cells", [",3700", "100,", ","])
def test_a_job_without_both_ends_did_not_run(cells: str) -> None:
    recording = read_log(f"time,start_time,end_time,gpus\n0,{cells},8\n", name="log")
    assert recording.trace.jobs == ()
    assert recording.left_out == {"did not run to an end": 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("submit,gpus\n", "no column duration or"),
        ("submit,end_time,gpus\n", "no column start_time"),
        ("submit,duration,gpus\n0,60\n", "row 2, column gpus: empty or missing"),
        ("submit,duration,gpus\n\n0,long,1\n", "row 3, column duration: 'long'; expected a number"),
        ("submit,duration,gpus\nsoon,60,1\n", "row 2, column submit: 'soon'; expected seconds, or"),
        ("submit,duration,gpus\n0,nan,1\n", "'nan'; expected a number of at least 0"),
        ("submit,duration,gpus\n0,-60,1\n", "'-60'; expected a number of at least 0"),
        ("submit,duration,gpus\n0,60,-1\n", "column gpus: '-1'; expected a number of at least 0"),
        ("submit,duration,gpus\n0,60,inf\n", "column gpus: 'inf'; expected a number"),
        (
            "submit,duration,gpus\n0,60,1e300\n",
            "column gpus: '1e300'; expected a number of at most",
        ),
        ("submit,duration,gpus\n0,60,1,9\n", "row 2: 4 cells under 3 column names"),
    ],
)
def test_a_bad_log_is_refused_with_its_row_and_column(text: str, problem: str) -> None:
    with pytest.raises(InvalidRecordingError, match=problem):
        read_log(text, name="log")


def attempt(start: object, end: object, *gpus: int) -> dict[str, object]:
    detail = [{"ip": f"m{i}", "gpus": [f"gpu{k}" for k in range(n)]} for i, n in enumerate(gpus)]
    return {"start_time": start, "end_time": end, "detail": detail}


def philly(*attempts: dict[str, object], **more: object) -> Recording:
    job = {"jobid": "a", "submitted_time": "2017-10-07 01:11:39", "user": "ann", "vc": "v"}
    return read_philly_json(json.dumps([job | {"attempts": attempts} | more]), name="philly")


def test_attempts_of_a_job_of_philly_count_together() -> None:
    recording = philly(
        attempt("2017-10-07 01:12:00", "2017-10-07 01:13:00", 8),
        attempt("2017-10-07 01:14:00", "2017-10-07 02:13:00", 8, 4),
    )
    (job,) = recording.trace.jobs
    assert (job.name, job.team, job.requested_workers) == ("a", "ann", 12)
    pace = seconds_per_sample(
        job.profile, job.profile.batch, workers=12, crosses_nodes=True, counts_noise=False
    )
    assert job.samples * pace == pytest.approx(3600)


@pytest.mark.parametrize(
    ("attempts", "why"),
    [
        ((), "did not run to an end"),
        ((attempt("2017-10-07 01:12:00", None, 8),), "did not run to an end"),
        ((attempt("None", "None", 8),), "did not run to an end"),
        ((attempt("2017-10-07 01:12:00", "2017-10-07 02:12:00"),), "used no GPU"),
        ((attempt("2017-10-07 01:12:00", "2017-10-07 01:12:59", 8),), "ran for less than 60 s"),
    ],
)
def test_what_philly_did_not_run_is_left_out(
    attempts: tuple[dict[str, object], ...], why: str
) -> None:
    assert philly(*attempts).left_out == {why: 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"jobid": 1}', "expected a list of jobs"),
        ("[1]", "job 1 of the list"),
        ('[{"jobid": "a"}]', "job 1 of the list: KeyError 'attempts'; expected an object with"),
        ("[", "not JSON"),
    ],
)
def test_json_that_is_no_log_of_philly_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InvalidRecordingError, match=problem):
        read_philly_json(text, name="philly")


TASKS = """\
a,worker,2.0,Terminated,1000.0,4600.0,600.0,29.3,50.0,MISC
a,ps,1.0,Terminated,1300.0,4300.0,600.0,29.3,,
a,evaluator,3.0,Failed,1100.0,4000.0,600.0,29.3,100.0,T4
cpu,worker,1.0,Terminated,1.0,4600.0,600.0,29.3,,
running,worker,1.0,Running,1000.0,,600.0,29.3,100.0,T4
waiting,worker,1.0,Waiting,,,600.0,29.3,100.0,T4
half,worker,1.0,Terminated,1600.0,5200.0,600.0,29.3,50.0,T4
"""


@pytest.mark.parametrize("header", ["", ",".join(COLUMNS) + "\n"])
def test_tasks_of_pai_are_added_up_by_job(header: str) -> None:
    recording = read_pai(header + TASKS, name="pai")
    a, half = recording.trace.jobs
    assert (a.name, a.submitted_at, a.requested_workers) == ("a", 0.0, 4)
    assert (half.name, half.submitted_at, half.requested_workers) == ("half", 600.0, 1)
    assert recording.left_out == {"used no GPU": 1, "did not run to an end": 2}
    assert "1 held a part of a GPU" in recording.summary()


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("a,i,user,Terminated,1.0,2.0", "pai_job_table"),
        ("a,worker,n,w,i,Terminated,1.0,2.0,m", "pai_instance_table"),
    ],
)
def test_another_table_of_pai_is_refused_by_its_name(line: str, table: str) -> None:
    with pytest.raises(InvalidRecordingError, match=rf"{table}.*give pai_task_table.csv"):
        read_pai(line + "\n", name="pai")
