"""What shall be warm before anybody needs it? What admins asked for, on each node that takes work.

The last thing a tick does, and not while a job starts, because no job waits for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from cluster import warmth
from cluster.models import Node, WarmPool
from cluster.worker_host import WarmStock, WarmWish, WorkerHostError

from autoscaler.control_loop import launches
from autoscaler.control_loop.shell import Shell
from jobs.lifecycle import State
from jobs.models import Job

FETCHED_ONLY: Final = "nodes with GPUs only have the image fetched"

_START_SECONDS: Final = 30.0  # guessed: one that needs longer waits for something else, most likely

_log = logging.getLogger(__name__)


def keep_warm(shell: Shell) -> None:
    """Tell the host, and write down what it has. What fails is tried again in the next tick."""
    if _is_starting(shell):
        return
    warm_pools = list(WarmPool.objects.select_related("pool"))
    wishes = {pool.pk: list(_wishes(pool, shell)) for pool in warm_pools}
    try:
        stocks = shell.processes.keep_warm(*(w for several in wishes.values() for w in several))
    except WorkerHostError as problem:
        _log.warning("Nothing is kept warm: %s", problem, extra={"action": "keep_warm"})
        return
    if warm_pools:
        with shell.fence.transaction():
            for pool in warm_pools:
                warmth.write_down(pool, _stocks_of(wishes[pool.pk], stocks))


def _is_starting(shell: Shell) -> bool:
    """True while a job has just begun to start: what gets warm would take cores away from it."""
    since = shell.now - timedelta(seconds=_START_SECONDS)
    return Job.objects.filter(state=State.STARTING, state_since__gt=since).exists()


def _wishes(warm_pool: WarmPool, shell: Shell) -> Iterator[WarmWish]:
    count = 0 if launches.is_of_gpus(warm_pool.pool) else warm_pool.size
    for node in Node.objects.filter(pool=warm_pool.pool_id, is_schedulable=True):
        wish = launches.of_nobody(node, image=warm_pool.image, count=count, shell=shell)
        if wish is not None:
            yield wish


def _stocks_of(wishes: Sequence[WarmWish], stocks: Sequence[WarmStock]) -> Iterator[WarmStock]:
    counts = {(wish.node, wish.image): wish.count for wish in wishes}
    for stock in stocks:
        count = counts.get((stock.node, stock.image))
        if count is not None:
            yield stock if count or stock.note else replace(stock, note=FETCHED_ONLY)
