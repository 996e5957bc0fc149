"""What does a read cost? Run `python -m benchmarks.api_cost.reading [--jobs 1000] [--rounds 10]`.

Everything that a page of the dashboard asks for is read through all of Django, with an admin's
session, from a database in which so many jobs train and twenty times as many have ended. Prints
processor milliseconds of this process and of PostgreSQL, statements and bytes of each read. Nothing
is shared between reads, and nobody has an answer already.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

from local_stack.soak.users.requests import READS

from benchmarks.api_cost.own_database import Cost, cost_of, own_service

# What the load has, the longest page, and the longest stretch of time.
PATHS: Final = (*READS, "/jobs?limit=200", "/cluster/utilisation?minutes=10080")
WORKERS: Final = 4  # of each job
POINTS: Final = 600
SAMPLE_DAYS: Final = 2  # of how the pool was used, a sample every 10 s
TICKS: Final = 3
_CURVE: Final = """
    INSERT INTO jobs_metricpoint (
        job_id, at, recorded_at, generation, step, epoch, samples, samples_per_second, step_seconds,
        compute_seconds, communication_seconds, learning_rate, values
    )
    SELECT %s, now() - n * interval '5 s', now(), 1, 100000 - n, 0.1, 1000000 - n, 500, 0.5, 0.4,
           0.1, 0.01,
           jsonb_build_object('loss', random(), 'accuracy', random())
    FROM generate_series(1, %s) n
"""
_SAMPLES: Final = """
    INSERT INTO cluster_utilisationsample (
        at, pool_id, team_id, gpus, guaranteed_gpus, waiting_gpus
    )
    SELECT at, pool.id, team.id, 3, 4, 5
    FROM generate_series(now() - %s * interval '1 day', now(), interval '10 s') at,
         cluster_pool pool, tenancy_team team
"""
_PREDICTION: Final = """
    UPDATE jobs_job SET prediction = jsonb_build_object(
        'made_at', now(), 'start', null,
        'finish', jsonb_build_object('p10', now(), 'p50', now(), 'p90', now())
    ) WHERE state IN ('running', 'rescaling', 'queued')
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with own_service() as postgres:
        client, job_id = _made(options.jobs)
        print("| | api ms | PostgreSQL ms | statements | bytes |")
        print("|---|---|---|---|---|")
        for path in PATHS:
            ask = _Asking(client, "/api/v1" + path.format(job=job_id))
            for _ in range(2):  # for what is loaded on first use
                ask()
            costs = [cost_of(postgres, ask) for _ in range(options.rounds)]
            print(f"| `{path}` | {' | '.join(_cells(costs))} | {ask.size:,} |")


class _Asking:
    """One read, again and again."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address
        self.size = 0

    def __call__(self) -> None:
        answer = self._client.get(self._address)
        assert answer.status_code == 200, answer.content[:500]
        self.size = len(answer.content)


def _cells(costs: list[Cost]) -> tuple[str, ...]:
    rounds = len(costs)
    api = 1000 * sum(one.python_seconds for one in costs) / rounds
    postgres = 1000 * sum(one.postgres_seconds for one in costs) / rounds
    statements = sum(one.statements for one in costs) / rounds
    return f"{api:.1f}", f"{postgres:.1f}", f"{statements:.1f}"


def _made(jobs: int) -> tuple[Any, str]:
    """Who may see everything, on a cluster after its first plan; and a job with a curve."""
    from cluster.in_memory_host import InMemoryHost  # noqa: PLC0415 - once Django is set up
    from django.contrib.auth import get_user_model  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415
    from rest_framework.test import APIClient  # noqa: PLC0415

    from benchmarks.tick_cost.crowd import Crowd  # noqa: PLC0415
    from benchmarks.tick_cost.measuring import Meter  # noqa: PLC0415
    from jobs.models import Job  # noqa: PLC0415

    host = InMemoryHost()
    crowd, meter = Crowd(host=host, jobs=jobs, workers=WORKERS), Meter(host=host)
    crowd.settle()
    for _ in range(TICKS):
        meter.tick()
        crowd.report()
        crowd.obey()
    job_id = Job.objects.filter(state="running").values_list("id", flat=True)[0]
    with connection.cursor() as cursor:
        cursor.execute(_CURVE, [job_id, POINTS])
        cursor.execute(_PREDICTION)
        cursor.execute(_SAMPLES, [SAMPLE_DAYS])
        cursor.execute("ANALYZE")
    client = APIClient(SERVER_NAME="localhost")
    client.force_login(get_user_model().objects.create_superuser("root"))
    return client, job_id


if __name__ == "__main__":
    main()
