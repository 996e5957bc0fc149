"""What may a job spec say, and what is answered when it says something else?"""

from __future__ import annotations

from typing import Any

import pytest

from concertina_worker.protocol import LearningRateScaling
from jobs.errors import SpecInvalid
from jobs.spec.job_spec import JobSpec, parse
from tests.service.conftest import spec

QUEUE = {"metric": "queue_length", "grow_above": 100.0}

REFUSED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    # sentence: (changes of a good spec, field, part of the problem, part of the remedy)
    "an unknown field names the closest known one": (
        {"comand": ["x"]}, "comand", "is not a field", "Did you mean command?"),
    "an unknown field inside a part names its path": (
        {"elastic": {"minworkers": 2}}, "elastic.minworkers", "is not a field",
        "Did you mean elastic.min_workers?"),
    "a field like no other lists what is known": (
        {"batch": {"global_batch_size": 8, "zzz": 1}}, "batch.zzz", "is not a field",
        "lr_scaling"),
    "a number in quotes is no number": (
        {"priority": "50"}, "priority", "is not a whole number", "without quotes"),
    "true is no number": ({"seed": True}, "seed", "is not a whole number", ""),
    "a fraction is no whole number": ({"seed": 1.5}, "seed", "is not a whole number", ""),
    "a rule for the learning rate that nobody knows is refused": (
        {"batch": {"global_batch_size": 8, "lr_scaling": "cubic"}}, "batch.lr_scaling", "", "sqrt"),
    "a number as an environment value needs quotes": (
        {"env": {"N": 1}}, "env.N", "is not text", "quotes"),
    "an environment name of the platform is refused": (
        {"env": {"CONCERTINA_TOKEN": "x"}}, "env", "sets CONCERTINA_TOKEN", "Remove"),
    "a word with an equals sign is no variable": (
        {"env": {"A=B": "x"}}, "env", "'A=B'", "letters"),
    "a command as one text is no list": (
        {"command": "python train.py"}, "command", "is not a list", '["python", "train.py"]'),
    "an empty command is refused": ({"command": []}, "command", "is empty", "at least 1"),
    "a program without a name is refused": (
        {"command": [""]}, "command", "does not begin with a program", "python"),
    "a batch in quotes is neither number nor range": (
        {"batch": {"global_batch_size": "64"}}, "batch.global_batch_size", "neither", "64"),
    "a null character in a command is refused": (
        {"command": ["a\0b"]}, "command[0]", "null character", "Remove"),
    "a name with a space is refused": ({"name": "my job"}, "name", "is not a job name", "letters"),
    "an empty name is refused": ({"name": ""}, "name", "is not a job name", ""),
    "a duration without a unit is refused": (
        {"elastic": {"min_interval": 30}}, "elastic.min_interval", "is not a duration", '"30s"'),
    "a duration in a strange unit is refused": (
        {"elastic": {"min_interval": "3w"}}, "elastic.min_interval", "is not a duration", ""),
    "a grace period of days is refused": (
        {"elastic": {"grace_period": "2d"}}, "elastic.grace_period", "is too long", "at most 1h"),
    "a checkpoint interval of nothing is refused": (
        {"checkpoint": {"interval": "0s"}}, "checkpoint.interval", "is too short", "at least 1s"),
    "a pattern that is none is refused": (
        {"metrics": [{"name": "loss", "pattern": "loss ("}]}, "metrics[0].pattern",
        "is no pattern", "RE2"),
    "a pattern that would have to look back is refused": (
        {"metrics": [{"name": "loss", "pattern": r"(a)\1"}]}, "metrics[0].pattern",
        "is no pattern", "RE2"),
    "a pattern that would fill the memory is refused": (
        {"metrics": [{"name": "loss", "pattern": "((.{100}){100})"}]}, "metrics[0].pattern",
        "is no pattern", "RE2"),
    "a pattern without a group finds no number": (
        {"metrics": [{"name": "loss", "pattern": "loss [0-9]+"}]}, "metrics[0].pattern",
        "exactly one group", "parentheses"),
    "a metric has one pattern": (
        {"metrics": [{"name": "loss", "pattern": "(a)"}, {"name": "loss", "pattern": "(b)"}]},
        "metrics", "names loss twice", "one pattern"),
    "a script with the library logs its metrics": (
        {"elastic": {"mode": "hot"}, "metrics": [{"name": "loss", "pattern": "(a)"}]},
        "metrics", "without the library", "job.log"),
    "a size without a unit is refused": (
        {"resources": {"memory": 64}}, "resources.memory", "is not a size", '"64GiB"'),
    "more shared memory than memory is refused": (
        {"resources": {"memory": "1GiB", "shm_size": "2GiB"}},
        "resources.shm_size", "is more than resources.memory, 1GiB", "at most 1GiB"),
    "an endless number of cores is refused": (
        {"resources": {"cpus": float("inf")}}, "resources.cpus", "is not a finite number", ""),
    "a priority above 100 is refused": ({"priority": 101}, "priority", "is above 100", "at most"),
    "no GPU per worker is refused": (
        {"resources": {"gpus_per_worker": 0}}, "resources.gpus_per_worker", "is below 1", ""),
    "a deadline without a time zone is refused": (
        {"deadline": "2030-01-01T08:00:00"}, "deadline", "is not a moment", "2026-12-01T08:00:00Z"),
    "a deadline as a number is refused": (
        {"deadline": 1893456000}, "deadline", "is not a moment", ""),
    "a utility whose times do not rise is refused": (
        {"utility": [{"after": "2h", "dollars": 1}, {"after": "1h", "dollars": 0}]},
        "utility", "do not increase", "Order its points"),
    "an empty utility is refused": ({"utility": []}, "utility", "is empty", ""),
    "a point of a utility without a unit names its place": (
        {"utility": [{"after": 3, "dollars": 1}]}, "utility[0].after", "is not a duration", ""),
    "a metric without a threshold is refused": (
        {"elastic": {"scale_on": {"metric": "queue"}}}, "elastic.scale_on", "no threshold",
        "grow_above"),
    "thresholds that leave no room are refused": (
        {"elastic": {"scale_on": {"metric": "q", "grow_above": 1.0, "shrink_below": 1.0}}},
        "elastic.scale_on", "is not below", "Leave room"),
    "workers requested beyond the range are refused": (
        {"elastic": {"max_workers": 4, "requested_workers": 6}}, "elastic.requested_workers",
        "is not a number of workers", "Use 4"),
    "an unknown preemptibility names the known ones": (
        {"preemptibility": "sometimes"},
        "preemptibility",
        "none of the allowed words",
        "'non-preemptible'",
    ),
    "an unknown mode names the known ones": (
        {"elastic": {"mode": "warm"}}, "elastic.mode", "none of the allowed words", "'restart'"),
    "min above max names both numbers": (
        {"elastic": {"min_workers": 5, "max_workers": 3}}, "elastic.min_workers",
        "is greater than max_workers (3)", "Use at most 3, or raise max_workers."),
    "an allowed count outside the range is named": (
        {"elastic": {"max_workers": 4, "allowed_workers": [1, 2, 8]}}, "elastic.allowed_workers",
        "has 8, which is outside", "from 1 to 4"),
    "a step beside a list of counts is refused": (
        {"elastic": {"max_workers": 4, "allowed_workers": [1, 2], "worker_step": 2}},
        "elastic.worker_step", "together with allowed_workers", "Keep one"),
    "a batch min above its max is refused": (
        {"batch": {"global_batch_size": {"base": 64, "min": 64, "max": 32}}},
        "batch.global_batch_size.min", "is greater than max (32)", "raise max"),
    "a base outside the range is refused": (
        {"batch": {"global_batch_size": {"base": 8, "min": 16, "max": 32}}},
        "batch.global_batch_size.base", "is outside", "within the range"),
    "a range without a multiple is refused": (
        {"batch": {"global_batch_size": {"base": 33, "max": 60, "multiple_of": 32}}},
        "batch.global_batch_size.multiple_of", "has no multiple from 33 to 60", "Widen"),
    "more workers than samples fit no worker count": (
        {"elastic": {"min_workers": 8, "max_workers": 8}, "batch": {"global_batch_size": 4}},
        "batch.global_batch_size.max", "fits no worker count", "at least 8"),
    "a share that exceeds memory without accumulation fits no worker count": (
        {"elastic": {"max_workers": 4},
         "batch": {"global_batch_size": 512, "per_gpu_batch_size": {"max": 64},
                   "gradient_accumulation": False}},
        "batch.global_batch_size.min", "128 samples for each of 4 workers", "at most 256"),
    "a field of a part is known without the part": (
        {"memory": "1GiB"}, "memory", "is not a field", "Did you mean resources.memory?"),
    "a field is known by one of its words": (
        {"num_gpus": 2}, "num_gpus", "is not a field", "Did you mean resources.gpus_per_worker?"),
    "so is one under a wrong part": (
        {"resources": {"min_worker": 2}}, "resources.min_worker", "is not a field",
        "Did you mean elastic.min_workers?"),
    "one beside it comes first": (
        {"elastic": {"min": 2}}, "elastic.min", "is not a field",
        "Did you mean elastic.min_workers?"),
    "a batch size is one, wherever it stands": (
        {"batch_size": 2}, "batch_size", "is not a field",
        "Did you mean batch.global_batch_size?"),
    "what is like nothing lists what there is": (
        {"resources": {"quux": 2}}, "resources.quux", "is not a field",
        "Known here: gpus_per_worker"),
    "a working directory that is not written in full is refused": (
        {"workdir": "train"}, "workdir", "is not an absolute path", "Begin it with /"),
    "a working directory that climbs is refused": (
        {"workdir": "/srv/../proc/self/fd/7"}, "workdir", "is not a plain path", "/proc/self/fd/7"),
    "a working directory with two names for one place is refused": (
        {"workdir": "//srv//./vision"}, "workdir", "is not a plain path", "/srv/vision"),
    "the kernel's own files are no working directory": (
        {"workdir": "/proc/self/fd/7"}, "workdir", "lies in /proc", "/workspace"),
    "a memory limit that no machine can count to is refused": (
        {"batch": {"global_batch_size": 8, "per_gpu_batch_size": {"max": 10**21}}},
        "batch.per_gpu_batch_size.max", "is above 1000000000", "Use at most 1000000000."),
    "more memory than any machine has is refused": (
        {"resources": {"memory": "2000TiB"}}, "resources.memory", "is above 1024TiB",
        "Use at most 1024TiB."),
    "more disk than any machine has is refused": (
        {"resources": {"disk_per_job": "2000TiB"}}, "resources.disk_per_job", "is above 1024TiB",
        "Use at most 1024TiB."),
    "no disk at all is refused": (
        {"resources": {"disk_per_job": "0GiB"}}, "resources.disk_per_job", "is not a size",
        '"64GiB"'),
    "a sliver of a core is refused": (
        {"resources": {"cpus": 1e-300}}, "resources.cpus", "is below 0.01", "at least 0.01"),
    "an allowed count of no worker is refused": (
        {"elastic": {"allowed_workers": [0, 1]}}, "elastic.allowed_workers[0]", "is below 1", ""),
    "a memory limit that is a word is refused": (
        {"batch": {"global_batch_size": 8, "per_gpu_batch_size": {"max": "much"}}},
        "batch.per_gpu_batch_size.max", "is not a limit", "auto"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_bad_spec_is_refused_naming_field_problem_and_remedy(sentence: str) -> None:
    changes, field, problem, remedy = REFUSED[sentence]
    with pytest.raises(SpecInvalid) as refused:
        parse(spec(**changes))
    named = {found.field: found for found in refused.value.problems}
    assert field in named
    assert problem in named[field].problem
    assert remedy in named[field].remedy


@pytest.mark.parametrize("workdir", ["/", "/srv/vision", "/srv/vision/", "/process", "/srv/proc"])
def test_an_ordinary_folder_is_a_working_directory(workdir: str) -> None:
    assert parse(spec(workdir=workdir)).workdir == workdir


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(SpecInvalid) as refused:
        parse({"name": "a b", "priority": 500, "colour": "red"})
    assert {found.field for found in refused.value.problems} == {
        "name",
        "command",
        "priority",
        "colour",
    }


@pytest.mark.parametrize("document", [None, [], "name: a", 7])
def test_what_is_no_mapping_is_refused(document: object) -> None:
    with pytest.raises(SpecInvalid, match="is not a mapping"):
        parse(document)


def test_a_problem_never_repeats_a_huge_or_unprintable_value() -> None:
    with pytest.raises(SpecInvalid) as refused:
        parse(spec(name="x" * 100_000, priority=float("nan"), workdir="\ud800"))
    for problem in refused.value.problems:
        assert len(str(problem.value)) <= 200
        str(problem.as_detail()).encode()


def test_the_shortest_spec_gets_every_default() -> None:
    made = parse({"name": "a", "command": ["true"]})
    assert made.elastic.max_workers == 1
    assert made.elastic.grace_period == 30.0
    assert made.retry.max_restarts == 3
    assert made.batch.global_batch_size.max == 32


def test_aliases_mean_the_same() -> None:
    made = parse(spec(project="vision", max_restarts=7))
    assert made.team == "vision"
    assert made.retry.max_restarts == 7


def test_a_bare_batch_is_a_range_of_one() -> None:
    size = parse(spec(batch={"global_batch_size": 96})).batch.global_batch_size
    assert (size.base, size.min, size.max) == (96, 96, 96)


def test_quantities_mean_what_their_units_say() -> None:
    made = parse(
        spec(
            elastic={"min_interval": "1.5h", "grace_period": "500ms", "max_workers": 2},
            resources={"memory": "64GiB"},
        )
    )
    assert made.elastic.min_interval == 5400.0
    assert made.elastic.grace_period == 0.5
    assert made.resources.memory == 64 * 2**30


def test_a_resolved_spec_reads_back_as_the_same_spec() -> None:
    made = parse(
        spec(
            elastic={"min_interval": "90s", "max_workers": 8, "worker_step": 2},
            resources={"memory": "500MB", "cpus": 2.0},
            labels={"paper": "x"},
        )
    )
    resolved = made.resolved(team="vision", pool="default")
    again = JobSpec.from_resolved(resolved)
    assert again.model_copy(update={"team": "", "pool": ""}) == made
    assert resolved["elastic"]["min_interval"] == "90s"
    assert (again.elastic.listed_counts(), again.elastic.worker_step) == (None, 2)


@pytest.mark.parametrize("scaling", LearningRateScaling)
def test_every_rule_that_a_worker_knows_can_be_asked_for(scaling: LearningRateScaling) -> None:
    batch = {"global_batch_size": 32, "lr_scaling": scaling.value}
    assert parse(spec(batch=batch)).batch.lr_scaling == scaling


def test_wishes_are_kept_as_they_were_meant() -> None:
    wishes = {
        "deadline": "2030-01-01T10:00:00+02:00",
        "utility": [{"after": "90m", "dollars": 100}, {"after": "1d", "dollars": -5}],
        "elastic": {"max_workers": 4, "requested_workers": 2, "scale_on": QUEUE},
    }
    resolved = parse(spec(**wishes)).resolved(team="vision", pool="default")
    assert resolved["deadline"] == "2030-01-01T08:00:00Z"
    assert [point["after"] for point in resolved["utility"]] == ["90m", "1d"]
    assert resolved["elastic"]["scale_on"] == {**QUEUE, "shrink_below": None}
    again = JobSpec.from_resolved(resolved)
    assert again.resolved(team="vision", pool="default") == resolved
