"""What does it cost to read who used a year? Run `python -m benchmarks.api_cost.usage`.

At each hour of a year so many jobs hold GPUs (`--running`, each for ten hours), of twenty teams,
two hundred people and two pools. Each question is asked through all of Django, with an admin's
session. Prints processor milliseconds of this process and of PostgreSQL, statements and bytes.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any, Final

from benchmarks.api_cost.own_database import cost_of, own_service, table_cells

ROUNDS: Final = 5
YEAR: Final = "since=2026-01-01&until=2027-01-01"
PATHS: Final = (
    f"{YEAR}&by=team",
    f"{YEAR}&by=month,team",
    f"{YEAR}&by=day,team",
    f"{YEAR}&by=month,team,pool,user",
    f"{YEAR}&by=month,user&team=team-7",
    f"{YEAR}&by=label:project",
    f"{YEAR}&by=month&label=project=project-7",
    f"{YEAR}&by=job&limit=100",
    f"{YEAR}&by=job&limit=100&team=team-7",
    f"{YEAR}&by=month,team&time_zone=Europe/Berlin",
    "since=2026-11-01&until=2026-12-01&by=day,user&time_zone=Europe/Berlin",
    "since=2026-11-01&until=2026-11-08&by=hour,team",
    f"{YEAR}&by=day,team&format=csv",
)
_FILL: Final = (
    """
    INSERT INTO gpu_accounts_accountowner (id, pool, team, "user")
    SELECT n + 1, 'pool-' || n %% 2, 'team-' || n / 2 %% 20, 'person-' || n / 2
    FROM generate_series(0, 399) n
    UNION ALL
    SELECT n + 401, 'pool-' || n %% 2, 'team-' || n / 2, '' FROM generate_series(0, 39) n
    """,
    """
    INSERT INTO gpu_accounts_accountedjob (id, job, pool, team, "user", name, labels)
    SELECT n + 1, 'made-' || n, owner.pool, owner.team, owner."user", 'train-' || n,
        jsonb_build_object('project', 'project-' || n %% 50, 'trial', n::text)
    FROM generate_series(0, %(running)s * 876 - 1) n
    JOIN gpu_accounts_accountowner AS owner ON owner.id = n %% 400 + 1
    """,
    """
    INSERT INTO gpu_accounts_hourline (
        hour, owner_id, job_id, guaranteed, borrowed, lent, reserved, idle, starting, stalled, lost
    )
    SELECT timestamptz '2026-01-01Z' + hour * interval '1 hour', number %% 400 + 1, number + 1,
        3600000000, 1800000000, 0, 0, 0, 36000000, 3600000, 0
    FROM generate_series(0, 8759) AS hour, generate_series(0, %(running)s - 1) AS seat,
        LATERAL (
            SELECT ((hour + seat * 7) / 10 * %(running)s + seat) %% (%(running)s * 876) AS number
        ) AS job
    UNION ALL
    SELECT timestamptz '2026-01-01Z' + hour * interval '1 hour', owner, NULL,
        0, 0, 1800000000, 900000000, 900000000, 0, 0, 0
    FROM generate_series(0, 8759) AS hour, generate_series(401, 440) AS owner
    """,
    """
    INSERT INTO gpu_accounts_dayline (
        day, owner_id, job_id, guaranteed, borrowed, lent, reserved, idle, starting, stalled, lost
    )
    SELECT (hour AT TIME ZONE 'UTC')::date, owner_id, job_id, sum(guaranteed), sum(borrowed),
        sum(lent), sum(reserved), sum(idle), sum(starting), sum(stalled), sum(lost)
    FROM gpu_accounts_hourline GROUP BY 1, 2, 3
    """,
    """
    INSERT INTO gpu_accounts_teamday (
        day, pool, team, guaranteed, borrowed, lent, reserved, idle, starting, stalled, lost
    )
    SELECT day, pool, team, sum(guaranteed), sum(borrowed), sum(lent), sum(reserved), sum(idle),
        sum(starting), sum(stalled), sum(lost)
    FROM gpu_accounts_dayline JOIN gpu_accounts_accountowner AS owner ON owner.id = owner_id
    GROUP BY 1, 2, 3
    """,
    """
    INSERT INTO gpu_accounts_closedhour (hour, capacities, excess, unseen)
    SELECT timestamptz '2026-01-01Z' + hour * interval '1 hour', '{}', 0, 0
    FROM generate_series(0, 8759) AS hour
    """,
)
_TABLES: Final = ("accountowner", "accountedjob", "hourline", "dayline", "teamday", "closedhour")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--running", type=int, default=200)
    running = parser.parse_args().running
    with own_service() as postgres:
        client = _filled(running)
        print("| `GET /usage` with | api ms | PostgreSQL ms | statements | bytes |")
        print("|---|---|---|---|---|")
        for parameters in PATHS:
            address = f"/api/v1/usage?{parameters}"
            answer = client.get(address)
            assert answer.status_code == 200, answer.content[:500]
            costs = [cost_of(postgres, partial(client.get, address)) for _ in range(ROUNDS)]
            print(
                f"| `{parameters}` | {table_cells(costs)} | {len(answer.content):,} |", flush=True
            )


def _filled(running: int) -> Any:
    """Return who may see everything, once there is a year of accounts."""
    from django.contrib.auth import get_user_model  # noqa: PLC0415 - once Django is set up
    from django.db import connection  # noqa: PLC0415
    from rest_framework.test import APIClient  # noqa: PLC0415

    client = APIClient(SERVER_NAME="localhost")
    client.force_login(get_user_model().objects.create_superuser("root"))
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        for statement in _FILL:
            cursor.execute(statement, {"running": running})
        for table in _TABLES:
            cursor.execute(f"VACUUM ANALYZE gpu_accounts_{table}")
            cursor.execute(f"SELECT count(*) FROM gpu_accounts_{table}")  # noqa: S608 - named above
            print(f"{cursor.fetchone()[0]:,} rows of {table}")
    return client


if __name__ == "__main__":
    main()
