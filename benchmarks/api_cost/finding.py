"""What does it cost to find a job? Run `python -m benchmarks.api_cost.finding [--jobs 100000]`.

So many jobs of twenty teams and fifty people have ended. Each way to look for some of them is asked
for through all of Django, with an admin's session. Prints processor milliseconds of this process
and of PostgreSQL, statements and bytes of each.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any, Final

from benchmarks.api_cost.own_database import cost_of, own_service, table_cells

ROUNDS: Final = 5
PATHS: Final = (
    "order=finished",
    "order=recent",
    "order=finished&count=true",
    "state=failed",
    "team=team-7&order=finished",
    "user=person-3",
    "user=who-sent-one-job",
    "user=nobody",
    "label=net=resnet",
    "label=trial=77",
    "label=unknown",
    "search=trial-99",
    "order=finished&since=2026-06-01T00:00:00Z&until=2026-06-02T00:00:00Z",
    "pool=default&count=true",
)
_MADE: Final = """
    INSERT INTO jobs_job
    SELECT made.*
    FROM jobs_job job, generate_series(1, %s) n,
    -- Once for each row: in the list of columns it would be made for each column anew.
    LATERAL jsonb_populate_record(job, jsonb_build_object(
        'id', 'made-' || n,
        'name', 'trial-' || n,
        'team_id', (SELECT id FROM tenancy_team WHERE name = 'team-' || n %% 20),
        'submitted_by', CASE WHEN n = 77 THEN 'who-sent-one-job' ELSE 'person-' || n %% 50 END,
        'submitted_at', timestamptz '2026-01-01' + n * interval '5 min',
        'started_at', timestamptz '2026-01-01' + n * interval '5 min',
        'finished_at', timestamptz '2026-01-01' + n * interval '5 min' + interval '1 hour',
        'state', CASE WHEN n %% 10 = 0 THEN 'failed' ELSE 'completed' END,
        'labels', jsonb_build_object(
            'net', (ARRAY['resnet', 'bert', 'gpt'])[1 + n %% 3], 'trial', n::text)
    )) made
    WHERE job.id = %s
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    jobs = parser.parse_args().jobs
    with own_service() as postgres:
        client = _made(jobs)
        print("| `GET /jobs` with | api ms | PostgreSQL ms | statements | bytes |")
        print("|---|---|---|---|---|")
        for parameters in PATHS:
            address = f"/api/v1/jobs?{parameters}"
            answer = client.get(address)
            assert answer.status_code == 200, answer.content[:500]
            costs = [cost_of(postgres, partial(client.get, address)) for _ in range(ROUNDS)]
            print(f"| `{parameters}` | {table_cells(costs)} | {len(answer.content):,} |")


def _made(jobs: int) -> Any:
    """Return who may see everything, once the jobs are there."""
    from cluster.models import Node, Pool  # noqa: PLC0415 - once Django is set up
    from django.contrib.auth import get_user_model  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415
    from rest_framework.test import APIClient  # noqa: PLC0415
    from tenancy.models import Team  # noqa: PLC0415

    pool, _ = Pool.objects.get_or_create(name="default")
    Node.objects.create(pool=pool, name="node", gpus=8)
    Team.objects.bulk_create(Team(name=f"team-{number}") for number in range(20))
    client = APIClient(SERVER_NAME="localhost")
    client.force_login(get_user_model().objects.create_superuser("root"))
    spec = {"name": "first", "team": "team-0", "pool": pool.name, "command": ["python"]}
    submitted = client.post("/api/v1/jobs", spec, format="json")
    assert submitted.status_code == 201, submitted.content
    with connection.cursor() as cursor:
        cursor.execute(_MADE, [jobs, submitted.json()["id"]])
        cursor.execute("VACUUM ANALYZE jobs_job")
    return client


if __name__ == "__main__":
    main()
