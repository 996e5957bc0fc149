"""What does it cost to submit a job? Run `python -m benchmarks.api_cost.submitting [--rounds 5]`.

Jobs come one by one and in bulk, by turns, through all of Django, with a program's token and a key.
Prints processor milliseconds and statements of each job, of this process and of PostgreSQL, and how
many jobs a second that makes on two cores.
"""

from __future__ import annotations

import argparse
import json
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from benchmarks.api_cost.own_database import Cost, cost_of, own_service

if TYPE_CHECKING:
    from collections.abc import Callable

SINGLES: Final = 100  # in a round
BULKS: Final = (10, 100, 1000)
CORES: Final = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with own_service() as postgres:
        client = made_client()
        forms: dict[str, tuple[int, Callable[[], None]]] = {
            "one by one": (SINGLES, lambda: singles(client))
        }
        for size in BULKS:
            forms[f"bulk of {size}"] = (size, partial(bulk, client, specs(size)))
            forms[f"sweep of {size}"] = (size, partial(bulk, client, sweep(size)))
        for _, submit in forms.values():  # once for what is loaded on first use
            submit()
            forget_jobs()
        found: dict[str, list[Cost]] = {name: [] for name in forms}
        for _ in range(rounds):
            for name, (_, submit) in forms.items():
                found[name].append(cost_of(postgres, submit))
                forget_jobs()
    print("| | api ms | PostgreSQL ms | statements | jobs/s on two cores |")
    print("|---|---|---|---|---|")
    for name, (jobs, _) in forms.items():
        print(f"| {name} | {' | '.join(cells(found[name], jobs * rounds))} |")


def cells(costs: list[Cost], jobs: int) -> tuple[str, ...]:
    api = sum(one.python_seconds for one in costs) / jobs
    postgres = sum(one.postgres_seconds for one in costs) / jobs
    statements = sum(one.statements for one in costs) / jobs
    rate = f"{CORES / (api + postgres):.0f}"
    return f"{1000 * api:.2f}", f"{1000 * postgres:.2f}", f"{statements:.2f}", rate


def made_client() -> Any:
    """A program of a team with some history, on a cluster of 64 nodes."""
    from cluster.models import Node, Pool  # noqa: PLC0415 - Django is not ready before
    from rest_framework.test import APIClient  # noqa: PLC0415
    from tenancy.access.keys import tokens  # noqa: PLC0415
    from tenancy.models import Quota, Team  # noqa: PLC0415

    pool = Pool.objects.create(name="default")
    Node.objects.bulk_create(Node(pool=pool, name=f"node-{n}", gpus=8) for n in range(64))
    team = Team.objects.create(name="vision", max_queued_jobs=100_000)
    Quota.objects.create(team=team, pool=pool, guaranteed_gpus=64)
    client = APIClient(SERVER_NAME="localhost")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {tokens.issue(team=team, name='ci')[1]}")
    return client


def spec(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "command": ["python", "train.py", "--data", "/data/digits"],
        "env": {"LR": "0.1", "WANDB_PROJECT": "digits"},
        "elastic": {"min_workers": 1, "max_workers": 8},
        "batch": {"global_batch_size": {"base": 64, "max": 512}},
        "labels": {"paper": "icml27"},
    }


def specs(size: int) -> dict[str, Any]:
    return {"jobs": [spec(f"run-{number}") for number in range(size)]}


def sweep(size: int) -> dict[str, Any]:
    changes = [{"env.LR": f"{number / size}", "seed": number} for number in range(size)]
    return {"spec": spec("sweep"), "changes": changes}


def singles(client: Any) -> None:
    for number in range(SINGLES):
        send(client, "/api/v1/jobs", spec(f"run-{number}"))


def bulk(client: Any, document: dict[str, Any]) -> None:
    send(client, "/api/v1/jobs:bulk", document)


def send(client: Any, path: str, document: dict[str, Any]) -> None:
    answer = client.post(
        path,
        json.dumps(document),
        content_type="application/json",
        headers={"Idempotency-Key": str(uuid.uuid4())},
    )
    assert answer.status_code == 201, answer.content[:500]


def forget_jobs() -> None:
    from django.db import connection  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE jobs_job CASCADE")


if __name__ == "__main__":
    main()
