"""Can an admin ask whether the database contradicts itself?"""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from jobs.models import Job, Worker
from tests.control_loop.world import World


def ask(*arguments: str) -> tuple[int, str]:
    """Exit code and output of the command."""
    out = io.StringIO()
    try:
        call_command("contradictions", *arguments, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_nothing_is_found_where_nothing_is_wrong(world: World) -> None:
    assert ask() == (0, "Nothing contradicts anything else.\n")
    assert ask("--json") == (0, '{"contradictions": []}\n')


def test_what_contradicts_itself_is_told_in_a_sentence_and_in_the_exit_code(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    worker = Worker.objects.filter(job=job).order_by("id")[0]
    worker.claims.all().delete()
    told = f"{worker.id} holds 0 GPUs instead of 1"

    assert ask() == (1, f"{told}\n")
    code, out = ask("--json")
    assert (code, json.loads(out)) == (1, {"contradictions": [told]})
    worker.claims.create(node=worker.node, gpu_index=0)


def test_a_spec_that_cannot_be_read_is_told_and_hides_nothing_else(world: World) -> None:
    job = world.job()
    world.running(job, 1)
    Job.objects.filter(pk=job.pk).update(resolved_spec={**job.resolved_spec, "resources": "many"})
    (worker,) = Worker.objects.filter(job=job)
    assert ask() == (
        1,
        f"{worker} lives, but its job's spec cannot be read: resources\n",
    )
    Job.objects.filter(pk=job.pk).update(resolved_spec=job.resolved_spec)


@pytest.mark.django_db(transaction=True)
def test_all_of_it_sees_one_moment() -> None:
    """Outside a caller's transaction it reads a snapshot, which PostgreSQL must let it begin."""
    assert ask()[0] == 0
