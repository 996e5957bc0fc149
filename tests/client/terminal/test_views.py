from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

from concertina.errors import BadInput
from concertina.terminal import reporting
from concertina.views import fitting, jobs, problems
from concertina.views.installation import cluster
from concertina.views.job import description, explanation, usage
from tests.client import documents
from tests.client.manual_clock import ManualClock

if TYPE_CHECKING:
    from rich.console import RenderableType

    from concertina.documents import Explanation, UsagePoint

MARKUP = "[red]not red[/red] :smile: [/]"


def seen(view: RenderableType, width: int = 200) -> str:
    console = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_list_of_jobs_has_a_line_for_each() -> None:
    text = seen(jobs.jobs_table([documents.job(), documents.waiting_job(name="b")]))
    head, first, second = text.splitlines()
    assert head.split() == ["ID", "JOB", "STATE", "WORKERS", "BATCH", "DONE", "LEFT", "AGE", "WHY"]
    for fact in ("abcdefghjk", "vision/digits-a", "running", "42 %", "1 min 05 s", "Keeps 3"):
        assert fact in first
    assert second.split()[:7] == ["abcdefghjk", "vision/b", "queued", "0", "-", "-", "-"]


def test_a_change_of_workers_shows_both_numbers() -> None:
    assert "3→4" in seen(jobs.jobs_table([documents.job(workers_desired=4)]))


def test_a_narrow_screen_cuts_only_the_last_column() -> None:
    for width in (80, 120):
        text = seen(jobs.jobs_table([documents.job(message="x" * 300)]), width=width)
        assert all(len(line) <= width for line in text.splitlines())
        assert len(text.splitlines()) == 2
        for fact in ("vision/digits-a", "running", "42 %"):
            assert fact in text
        assert "x" * fitting.FEWEST in text


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 200])
def test_the_reason_is_the_last_column_that_a_narrow_screen_loses(width: int) -> None:
    everything = (
        jobs.jobs_table([documents.job(message="x" * 300)]),
        jobs.live_table([documents.job(message="x" * 300)]),
    )
    for table in everything:
        head, line = seen(table, width=width).splitlines()
        assert head.split()[-1] == "WHY" or width < 30
        assert len(line) <= width


def test_columns_are_left_out_in_their_order_and_only_as_needed() -> None:
    def head(width: int, says: str = "because") -> list[str]:
        table = fitting.FittingTable("A", "B", "C", "WHY", first_to_go=("B", "A"))
        table.add_row("a" * 10, "b" * 10, "c" * 10, says)
        return seen(table, width=width).splitlines()[0].split()

    assert head(43) == ["A", "B", "C", "WHY"]
    assert head(42) == ["A", "C", "WHY"]
    assert head(30) == ["C", "WHY"]
    assert head(16) == ["C", "WHY"], "these are never left out"
    assert head(60, says="x" * 500) == ["A", "C", "WHY"]


def test_columns_are_chosen_by_name_in_any_letters_and_order() -> None:
    table = jobs.jobs_table([documents.job()])
    table.choose("why, State")
    assert [line.split() for line in seen(table).splitlines()] == [
        ["WHY", "STATE"],
        ["Keeps", "3", "workers.", "running"],
    ]
    for wrong in ("id,colour", "", " , "):
        with pytest.raises(BadInput, match="There are: ID, JOB, STATE"):
            jobs.jobs_table([]).choose(wrong)


def test_a_node_says_whether_it_takes_work_and_if_not_why() -> None:
    plain: dict[str, Any] = {
        "pool": "default",
        "gpus": 4,
        "gpus_used": 3,
        "cpus": 8,
        "memory_bytes": 2**34,
        "is_schedulable": True,
        "is_draining": False,
        "complaints": [],
        "silent_since": None,
        "silent_reason": "",
    }
    nodes = [
        {**plain, "name": "a"},
        {**plain, "name": "b", "is_schedulable": False},
        {**plain, "name": "c", "is_schedulable": False, "is_draining": True},
        {**plain, "name": "d", "silent_since": "2026-11-21T07:00:00Z", "silent_reason": "Gone."},
    ]
    lines = [line.split() for line in seen(cluster.nodes_table(cast("Any", nodes))).splitlines()]
    assert lines[1] == ["a", "default", "ready", "4", "1", "8", "16.0", "GiB", "-"]
    assert [line[2] for line in lines[2:]] == ["cordoned", "draining", "silent"]
    assert lines[4][-1] == "Gone."


def test_what_a_job_takes_on_disk_is_told_once_it_is_known() -> None:
    def told(**known: int | None) -> str:
        return seen(description.description(documents.job(**known), [], [], []))

    assert "Disk" not in told()
    assert "Disk" not in told(disk_bytes=None, disk_files=None)
    assert "61.5 GiB in 70 files" in told(disk_bytes=123 << 29, disk_files=70)


def test_limits_of_use_are_told_where_a_spec_has_them() -> None:
    limits = {"max_duration": "12h", "budget_gpu_hours": 40.0}
    job = {**documents.job(gpu_seconds=3600.0), "resolved_spec": limits, "held_seconds": 1800.0}
    text = seen(description.description(cast("Any", job), [], [], []))
    assert "1 h 00 min of at most 40 GPU-hours" in text
    assert "30 min 00 s of at most 12h" in text
    assert "Held GPUs" not in seen(description.description(documents.job(), [], [], []))


def test_what_users_write_is_never_markup() -> None:
    job = documents.job(message=MARKUP, name=MARKUP)
    event = documents.event(message=MARKUP)
    for view in (
        jobs.jobs_table([job]),
        description.description(job, [], [], [event]),
        explanation.explanation(job, documents.explanation(message=MARKUP)),
        reporting.event_line(event),
        reporting.outcome_line(job),
    ):
        assert MARKUP in seen(view)


def test_a_description_shows_every_part() -> None:
    text = seen(
        description.description(
            documents.job(),
            [documents.generation()],
            [documents.worker(), documents.worker(id="old", phase="gone")],
            [documents.event()],
        )
    )
    for fact in ("vision/digits-a (abcdefghjk)", "may have 1 to 4, mode hot", "0.312", "0.08 s"):
        assert fact in text
    for title in ("Generations", "Workers", "Events"):
        assert title in text
    assert "old" not in text.split()  # only workers that are there


def test_a_description_tells_what_changes_cost() -> None:
    lost = {"lost_steps": 60, "lost_work_seconds": 30.0, "stall_seconds": 0.5}
    job = documents.job(lost_work_seconds=30.0)
    happened = documents.event(kind="work_lost", data=lost)
    text = seen(description.description(job, [documents.generation(**lost)], [], [happened]))
    for fact in (
        "stood still for 0.24 s, 0.4 % of its run; longest 0.08 s; 30 s of work made again",
        "stall 0.50 s, lost work 30 s",
        "0.16 s",  # transfer
    ):
        assert fact in text


RESTART = {
    "ordered_at": "2026-11-21T07:00:30Z",
    "seconds": 12.0,
    "sign": "iteration",
    "repeated_units": 20,
    "repeated_unit": "iteration",
    "repeated_seconds": 41.0,
    "message": "About 12 s from the restart to `step 60`.",
}


def test_a_description_claims_no_more_of_a_restart_than_is_known() -> None:
    unknown = {"seconds": None, "sign": "", "repeated_units": None, "repeated_seconds": None}
    for restart, costs in (
        (RESTART, "about 12 s  -         at least 41 s"),
        ({**RESTART, **unknown}, "not known  -         not known"),
        ({**RESTART, "repeated_seconds": 0.0}, "about 12 s  -         none seen"),
    ):
        generation = documents.generation(restart=restart)
        text = seen(description.description(documents.job(), [generation], [], []))
        assert costs in text


def test_an_explanation_tells_what_the_last_restart_cost() -> None:
    change = {"reason": "reclaim", "message": "Shrinks.", "at": "2026-11-21T07:01:00Z"}
    for cost in (RESTART["message"], ""):
        why = documents.explanation(changes=[{**change, "cost": cost}])
        text = seen(explanation.explanation(documents.job(), why))
        assert ("What the last restart cost: About 12 s" in text) == bool(cost)


def test_a_description_marks_the_straggler() -> None:
    slow = documents.worker(compute_seconds=0.12, relative_speed=0.6, is_straggler=True)
    usual = documents.worker(id="other", compute_seconds=0.07, relative_speed=1.0)
    text = seen(description.description(documents.job(), [], [usual, slow], []))
    assert [line.split()[0] for line in text.splitlines() if "straggler" in line] == [slow["id"]]
    assert "0.60 straggler" in text
    assert "GPU USE" not in text


def test_a_description_shows_how_gpus_are_used_where_that_is_known() -> None:
    busy = documents.worker(gpu_utilisation=0.93, gpu_memory_bytes=3 * 2**29)
    text = seen(description.description(documents.job(), [], [busy], []))
    assert "93 %" in text
    assert "1.5 GiB" in text


def test_a_job_that_never_ran_is_described_without_empty_parts() -> None:
    text = seen(description.description(documents.waiting_job(), [], [], []))
    assert "queued" in text
    assert "Generations" not in text


def test_a_message_of_many_lines_takes_one_row_and_is_told_whole_once() -> None:
    message = "Attempt 1 failed: ValueError\n  at line 3\n  at line 4"
    event, job = documents.event(message=message), documents.job(message=message)
    text = seen(description.description(job, [], [], [event]))
    assert text.count("at line 4") == 1
    assert "Attempt 1 failed: ValueError …" in text
    assert len(seen(jobs.jobs_table([job])).splitlines()) == 2
    assert "at line 3" not in seen(reporting.event_line(event))


def test_a_long_history_is_shown_from_its_end() -> None:
    events = [documents.event(id=n, message=f"event {n}!") for n in range(25)]
    text = seen(description.description(documents.job(), [], [], events))
    assert "newest 10 of 25" in text
    assert "event 24!" in text
    assert "event 14!" not in text


def test_an_explanation_begins_with_its_sentence_and_marks_what_holds_now() -> None:
    lines = seen(explanation.explanation(documents.job(), documents.explanation())).splitlines()
    assert lines[0] == "vision/digits-a: running"
    assert lines[1] == "Keeps 3 workers: a 4th would speed it up by 6 %."
    assert [line.split()[0] for line in lines if line.rstrip().endswith("now")] == ["3"]


def test_an_explanation_of_a_final_job_tells_its_end_and_its_history() -> None:
    job = documents.job(state="completed", message="Ran to its end on 3 workers.")
    text = seen(explanation.explanation(job, documents.explanation()))
    assert text.splitlines()[1] == "Ran to its end on 3 workers."
    assert "would speed it up" not in text
    assert "CHANGED AT" in text


def test_an_explanation_of_a_waiting_job_needs_no_numbers() -> None:
    unknown = dict.fromkeys(("position", "gpus_asked", "gpus_free", "price", "decided_at"))
    why = documents.explanation(choices=[], changes=[], message="", details=None, **unknown)
    assert "Waits." in seen(explanation.explanation(documents.waiting_job(message="Waits."), why))


@pytest.mark.parametrize("details", [None, {}, {"kind": "dreaming"}, {"kind": "running"}])
def test_an_explanation_of_another_release_says_what_it_says(
    details: dict[str, Any] | None,
) -> None:
    why = cast("Explanation", {"message": "Dreams of sheep.", "details": details})
    assert "Dreams of sheep." in seen(explanation.explanation(documents.job(), why))


def test_an_explanation_of_a_waiting_job_tells_what_would_start_it() -> None:
    remedy = {"kind": "free_gpus", "message": "Starts as soon as 1 more GPU is free."}
    details = {"kind": "waiting", "needed_gpus": 1}
    why = documents.explanation(message="Waits for 1 GPU.", remedy=remedy, details=details)
    text = seen(explanation.explanation(documents.waiting_job(), why))
    assert text.splitlines()[1:3] == ["Waits for 1 GPU.", remedy["message"]]


def test_a_problem_shows_field_value_place_and_remedy() -> None:
    problem = {
        "field": "elastic.min_workers",
        "value": 5,
        "problem": "is greater than max_workers (3)",
        "remedy": "Use at most 3, or raise max_workers.",
    }
    text = seen(problems.problems_list([problem], lambda _field: "job.yaml:12"))  # type: ignore[list-item]
    assert text.splitlines() == [
        "  elastic.min_workers = 5  (job.yaml:12)",
        "    is greater than max_workers (3)",
        "    Use at most 3, or raise max_workers.",
    ]


def test_a_team_shows_its_four_numbers_and_its_limit() -> None:
    text = seen(cluster.teams_table([documents.team(), documents.team(name="nlp", limit=3)]))
    _, vision, nlp = text.splitlines()
    assert vision.split() == [
        "vision",
        "2",
        "2.5",
        "3",
        "1",
        "0",
        "none",
        "1",
        "running,",
        "0",
        "waiting",
    ]
    assert nlp.split()[6] == "3"


def test_the_overview_of_an_empty_cluster_says_so() -> None:
    assert "No live jobs." in seen(cluster.overview([], [], [], head="Concertina"))


def test_an_event_without_a_move_shows_its_kind() -> None:
    event = documents.event(old_state="", new_state="", kind="joiner_dropped", message="")
    assert seen(reporting.event_line(event)).strip().endswith("joiner dropped")


def test_a_log_file_gets_progress_now_and_then_but_every_event() -> None:
    clock = ManualClock()
    console = Console(file=io.StringIO(), width=200)
    reporter = reporting.LineReporter(console, clock)
    for second in range(61):
        clock.seconds = 1000.0 + second
        reporter.progress(documents.job())
        if second % 20 == 0:
            reporter.event(documents.event())
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert text.count("42 % done") == 3
    assert text.count("running → rescaling") == 4


def test_progress_of_a_job_that_knows_nothing_yet_is_short() -> None:
    assert reporting.progress_line(documents.waiting_job()) == "queued, 0 workers"


def test_a_description_tells_what_was_predicted_and_what_a_rescale_brought() -> None:
    far = {"p10": "2999-01-01T00:00:00Z", "p50": "2999-01-02T00:00:00Z", "p90": None}
    predicted = {"made_at": "2026-11-21T07:00:00Z", "start": far, "finish": None}
    text = seen(
        description.description(
            documents.job(prediction=predicted), [documents.generation()], [], []
        )
    )
    assert "or more" in next(line for line in text.splitlines() if line.startswith("Starts"))
    assert not [line for line in text.splitlines() if line.startswith("Finishes")]
    assert "-25 %" in text
    assert "-22 %" in text


def test_a_description_tells_of_an_old_prediction_when_it_was_made() -> None:
    far = {"p10": "2999-01-01T00:00:00Z", "p50": "2999-01-02T00:00:00Z", "p90": None}
    predicted = {"made_at": "2026-11-21T07:00:00Z", "start": None, "finish": far}
    for old_at, is_told in (("2026-11-21T07:01:00Z", True), ("2999-01-01T00:00:00Z", False)):
        job = documents.job(prediction={**predicted, "old_at": old_at})
        lines = seen(description.description(job, [], [], [])).splitlines()
        told = [line.rstrip() for line in lines if line.startswith("Predicted ")]
        assert [line.endswith(" ago") for line in told] == [True] * is_told


def test_a_description_tells_how_the_last_predictions_did() -> None:
    soon = {"p10": "2999-01-01T00:00:00Z", "p50": "2999-01-02T00:00:00Z", "p90": None}
    predicted = {"made_at": "2026-11-21T07:00:00Z", "start": None, "finish": soon}
    for lately, told in (
        ({"held": 8, "outcomes": 10}, "8 of the last 10 jobs like it ended in their range"),
        ({"held": 1, "outcomes": 1}, "the last job like it ended in its range"),
    ):
        job = documents.job(prediction={**predicted, "lately": lately})
        assert told in seen(description.description(job, [], [], []))


def test_an_explanation_compares_the_next_gpus_here_and_elsewhere() -> None:
    text = seen(explanation.explanation(documents.job(), documents.explanation()))
    assert "4 workers: +6 %" in text
    assert "best elsewhere: a job of team language +31 %" in text


@pytest.mark.parametrize(("reaches_too_far", "name"), [(True, "Warning"), (False, "Worth")])
def test_a_description_tells_what_the_noise_makes_of_the_range_of_batches(
    *, reaches_too_far: bool, name: str
) -> None:
    told = {"reaches_too_far": reaches_too_far, "message": "At 128 a sample is worth 0.4."}
    lines = seen(description.description(documents.job(batch_worth=told), [], [], [])).splitlines()
    (line,) = (line for line in lines if "At 128" in line)
    assert line.split() == [name, "At", "128", "a", "sample", "is", "worth", "0.4."]
    without = seen(description.description(documents.job(batch_worth=None), [], [], []))
    assert "Warning" not in without
    assert "Worth" not in without


def test_warnings_of_a_script_are_told_where_a_job_is_described_or_explained() -> None:
    job = documents.job(warnings=["The loss is a sum."])
    assert "Warning" in seen(description.description(job, [], [], []))
    why = documents.explanation(warnings=["The loss is a sum."])
    assert "Warning: The loss is a sum." in seen(explanation.explanation(job, why))


def test_what_workers_take_is_a_line_for_each_stretch_and_says_if_they_are_idle() -> None:
    slots: UsagePoint = {
        "at": "2026-11-25T12:00:00Z",
        "workers": 2,
        "cpu_cores": 1.5,
        "memory_bytes": 3 << 30,
        "gpu_utilisation": None,
        "gpu_memory_bytes": None,
        "gpu_power_watts": None,
    }
    plain = seen(usage.usage_view({"idle_since": None, "items": [slots]}))
    assert "GPU" not in plain
    assert "idle" not in plain
    assert plain.splitlines()[1].split()[1:] == ["2", "1.50", "3.0", "GiB"]
    gpus: UsagePoint = {**slots, "gpu_utilisation": 0.93, "gpu_power_watts": 311.6}
    told = seen(usage.usage_view({"idle_since": slots["at"], "items": [gpus]}))
    for fact in ("93 %", "312 W", "All its workers have been idle since"):
        assert fact in told
    nothing = seen(usage.usage_view({"idle_since": None, "items": []}))
    assert "Nothing was read" in nothing
