"""What do people and programs ask of the service? Each request with the time and bytes it took."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self

import httpx

from local_stack.soak.measured_stack import MeasuredStack
from local_stack.stack import preparation

SUBMITTERS: Final = 8
ATTEMPTS: Final = 20
PAUSE_SECONDS: Final = 1.0
AGAIN: Final = frozenset({HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS})
KEPT_SECONDS: Final = 1.0  # of a connection: less than the service keeps it
BATCH: Final = 256
READS: Final = (
    "/jobs?limit=50",
    "/jobs?limit=100&state=running",
    "/jobs/{job}",
    "/jobs/{job}/explain",
    "/jobs/{job}/metrics?points=60",
    "/jobs/{job}/metrics?points=500",
    "/cluster/summary?hours=24",
    "/cluster/utilisation?minutes=60",
    "/teams",
    "/pools",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOutcome:
    """What became of one request."""

    path: str
    seconds: float
    status: int  # 0: none came
    size: int  # of the body, in bytes
    document: Any = None

    def __str__(self) -> str:
        return f"{self.path}: {self.status or 'no answer'} {self.document or ''}"[:300]

    @property
    def is_good(self) -> bool:
        return HTTPStatus.OK <= self.status < HTTPStatus.BAD_REQUEST


class Caller:
    """Somebody with a team's token, on connections that are kept."""

    def __init__(self, stack: MeasuredStack, team: str = preparation.TEAMS[0]) -> None:
        self._http = httpx.Client(
            base_url=f"{stack.url}/api/v1",
            headers={"Authorization": f"Bearer {stack.secrets.tokens[team]}"},
            timeout=httpx.Timeout(30.0),
            limits=httpx.Limits(
                max_connections=SUBMITTERS,
                keepalive_expiry=KEPT_SECONDS,
            ),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str) -> RequestOutcome:
        return self._ask("GET", path)

    def post(self, path: str, body: Any) -> RequestOutcome:
        return self._ask("POST", path, body)

    def submit(self, specs: Iterable[Mapping[str, Any]]) -> list[RequestOutcome]:
        """Submit one by one, several at a time."""
        with ThreadPoolExecutor(SUBMITTERS) as pool:
            return list(pool.map(lambda spec: self._post_patiently("/jobs", spec), specs))

    def submit_together(self, specs: Sequence[Mapping[str, Any]]) -> RequestOutcome:
        """Submit all in one request; a service that cannot answers 404 or 405."""
        return self.post("/jobs:bulk", {"jobs": specs})

    def cancel(self, jobs: Iterable[str]) -> None:
        """Cancel one by one, several at a time."""
        with ThreadPoolExecutor(SUBMITTERS) as pool:
            list(pool.map(lambda job: self._post_patiently(f"/jobs/{job}/cancel", {}), jobs))

    def read(self, job: str) -> list[RequestOutcome]:
        """Read all that a person may look at, once."""
        return [self.get(path.format(job=job)) for path in READS]

    def _post_patiently(self, path: str, body: Any) -> RequestOutcome:
        """Do as a client does that is told to try again in a moment."""
        for _ in range(ATTEMPTS):
            answer = self.post(path, body)
            if answer.status not in AGAIN:
                break
            time.sleep(PAUSE_SECONDS)
        return answer

    def _ask(self, method: str, path: str, body: Any = None) -> RequestOutcome:
        began = time.perf_counter()
        try:
            answer = self._http.request(method, path, json=body)
        except httpx.HTTPError:
            return RequestOutcome(path=path, seconds=time.perf_counter() - began, status=0, size=0)
        return RequestOutcome(
            path=path,
            seconds=time.perf_counter() - began,
            status=answer.status_code,
            size=len(answer.content),
            document=_document(answer.content),
        )


def spec(name: str, *options: str, most_workers: int = 4, pool: str = "") -> dict[str, Any]:
    """A simulated elastic job."""
    return {
        "name": name,
        **({"pool": pool} if pool else {}),
        "command": ["simulated", *options],
        "elastic": {"mode": "hot", "min_workers": 1, "max_workers": most_workers},
        "batch": {"global_batch_size": BATCH},
        "checkpoint": {"interval": "30s"},
    }


def refused(answers: Collection[RequestOutcome]) -> list[RequestOutcome]:
    """Those that did not do what was asked."""
    return [answer for answer in answers if not answer.is_good]


def _document(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
