"""What is done now and then in the background, outside the control loop?"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import Final

from celery import shared_task
from cluster.nodes import retention as cluster_retention
from django.conf import settings
from django.utils import timezone
from schedules import retention as schedules_retention
from sweeps import retention as sweeps_retention
from tenancy.audit import forgetting
from tenancy.single_sign_on import lapsing, proxy
from tenancy.single_sign_on.terms import GroupTerms, ProviderTerms, ProxyTerms
from webhooks import retention as webhooks_retention

from autoscaler.control_loop.housekeeping import retention as control_loop_retention
from autoscaler.control_loop.lease.session_lock import session_lock
from autoscaler.control_loop.wakeup_flag import redis_client
from autoscaler.gpu_accounts import checking, closing
from autoscaler.gpu_accounts import retention as gpu_accounts_retention
from autoscaler.predictions import pace
from autoscaler.restart_costs import measuring
from autoscaler.script_reports import reading
from autoscaler.simulation.api import retention as simulation_retention
from control_plane.configuration.retention_settings import RetentionSettings
from control_plane.database.batch_deletion import Eraser
from control_plane.setup import versions as setup_versions
from jobs.commands.removal import retention as jobs_retention

_LOOKING_BACK_SECONDS: Final = 5.0
_READING_SECONDS: Final = 4.0
READING_SCRIPTS: Final = 0x52656164  # "Read", the number of a lock
TELLING_WEBHOOKS: Final = 0x54656C6C  # "Tell", the number of a lock
_TELLING_SECONDS: Final = 8.0
SUBMITTING_SCHEDULED: Final = 0x44756521  # "Due!", the number of a lock
_SUBMITTING_SECONDS: Final = 20.0
STEERING_SWEEPS: Final = 0x52756E67  # "Rung", the number of a lock
_STEERING_SECONDS: Final = 10.0
_MOST_GAPS_TOLD: Final = 50  # each a line of the log
_CLOSING_SECONDS: Final = 60.0
CLOSING_ACCOUNTS: Final = 0x4163636F  # "Acco", the number of a lock
LOOKING_AHEAD: Final = 0x41686561  # "Ahea", the number of a lock

logger: Final = logging.getLogger(__name__)


@shared_task(name="control_plane.tasks.forget_what_is_old")
def forget_what_is_old() -> None:
    """Delete what is old, in bounded batches, for a bounded time; the next run goes on."""
    schedules_retention.keep_code()
    kept: RetentionSettings = settings.CONCERTINA.retention
    erase = Eraser(seconds=kept.seconds)
    deleted = {
        **cluster_retention.delete_old(kept.utilisation, erase=erase),
        **control_loop_retention.delete_old(kept.utilisation, erase=erase),
        **gpu_accounts_retention.delete_old(erase=erase),
        **webhooks_retention.delete_old(kept.deliveries, erase=erase),
        **schedules_retention.delete_old(erase=erase),
        **sweeps_retention.delete_old(erase=erase),
        **simulation_retention.delete_old(kept.simulations, has_time=erase.has_time),
        "setup_versions": setup_versions.delete_old(kept.audit, erase=erase),
        "audit_entries": forgetting.forget_old(kept.audit, has_time=erase.has_time),
        **jobs_retention.delete_old(kept.jobs, erase=erase, has_time=erase.has_time),
    }
    logger.info(
        "Deleted %s old rows.", sum(deleted.values()), extra={"action": "retention", **deleted}
    )


@shared_task(name="control_plane.tasks.keep_setup")
def keep_setup() -> None:
    """Write the set-up down if it has changed, whoever changed it, and by whatever way."""
    setup_versions.keep_what_changed()


@shared_task(name="control_plane.tasks.take_what_lapsed")
def take_what_lapsed() -> None:
    """Take roles that groups of the identity provider gave, where it has not confirmed them."""
    provider: ProviderTerms | None = settings.CONCERTINA.provider
    by_proxy: ProxyTerms | None = settings.CONCERTINA.proxy
    confirmed_for: dict[str, timedelta | None] = {}
    if provider is not None:
        confirmed_for[provider.issuer] = provider.groups.confirmed_for
    if by_proxy is not None:
        confirmed_for[proxy.ISSUER] = by_proxy.groups.confirmed_for
    usual = GroupTerms().confirmed_for or timedelta(days=30)
    lapsing.take_what_lapsed(timezone.now(), confirmed_for, otherwise=usual)


@shared_task(name="control_plane.tasks.tell_webhooks")
def tell_webhooks() -> None:
    """Put what happened into the outbox, and send what is due. Bounded; one process at a time."""
    from webhooks import outbox  # noqa: PLC0415 - it loads what writes answers of the API
    from webhooks.delivery import rounds  # noqa: PLC0415 - it loads aiohttp

    from control_plane.queries.webhook_reach import webhook_reach  # noqa: PLC0415 - so does it

    with session_lock(TELLING_WEBHOOKS) as is_alone:
        if not is_alone:
            return
        ends_at = time.monotonic() + _TELLING_SECONDS

        def has_time() -> bool:
            return time.monotonic() < ends_at

        def fill() -> bool:
            return outbox.fill(timezone.now(), service_url=settings.CONCERTINA.service_url)

        while fill() and has_time():
            pass
        rounds.deliver(webhook_reach, clock=timezone.now, has_time=has_time, fill=fill)


@shared_task(name="control_plane.tasks.submit_scheduled")
def submit_scheduled() -> None:
    """Submit what schedules have due. Bounded; one process at a time."""
    from schedules.rounds import one_round  # noqa: PLC0415 - it loads what writes answers of the API

    from control_plane.queries.pool_capacities import read_pools  # noqa: PLC0415 - so does it

    with session_lock(SUBMITTING_SCHEDULED) as is_alone:
        if is_alone:
            ends_at = time.monotonic() + _SUBMITTING_SECONDS
            one_round.run_round(
                read_pools, clock=timezone.now, has_time=lambda: time.monotonic() < ends_at
            )


@shared_task(name="control_plane.tasks.steer_sweeps")
def steer_sweeps() -> None:
    """Weigh trials of sweeps, and submit further ones. Bounded; one process at a time."""
    from sweeps.rounds import one_round  # noqa: PLC0415 - it loads what writes answers of the API

    from control_plane.queries.pool_capacities import read_pools  # noqa: PLC0415 - so does it

    with session_lock(STEERING_SWEEPS) as is_alone:
        if is_alone:
            ends_at = time.monotonic() + _STEERING_SECONDS
            one_round.run_round(
                read_pools, clock=timezone.now, has_time=lambda: time.monotonic() < ends_at
            )


@shared_task(name="control_plane.tasks.close_gpu_accounts")
def close_gpu_accounts() -> None:
    """Bring hours that are over into the accounts of GPU time, one after the other, for a while.

    Then tell teams of months that are over with them.
    """
    from control_plane.reporting import month_ends  # noqa: PLC0415 - it loads what writes answers

    with session_lock(CLOSING_ACCOUNTS) as is_alone:
        if not is_alone:
            return
        ends_at = time.monotonic() + _CLOSING_SECONDS

        def has_time() -> bool:
            return time.monotonic() < ends_at

        closing.close_hours(has_time=has_time)
        month_ends.tell_months(
            timezone.now(), service_url=settings.CONCERTINA.service_url, has_time=has_time
        )


@shared_task(name="control_plane.tasks.check_gpu_accounts")
def check_gpu_accounts() -> None:
    """Raise an alarm where GPU time does not add up; tell of which hours something is not known."""
    wrong = list(checking.contradictions(timezone.now()))
    for what in wrong[:_MOST_GAPS_TOLD]:
        logger.critical("Alarm: GPU time of %s", what, extra={"action": "alarm"})
    unknown = list(checking.unknowns(timezone.now()))
    for what in unknown[:_MOST_GAPS_TOLD]:
        logger.warning("GPU time of %s", what, extra={"action": "gpu_accounts"})
    logger.info(
        "Found %s contradictions and %s gaps in the GPU time.",
        len(wrong),
        len(unknown),
        extra={"action": "gpu_accounts"},
    )


@shared_task(name="control_plane.tasks.look_back")
def look_back() -> None:
    """Ask logs what it cost to start scripts with other workers. Bounded; no tick waits for it."""
    ends_at = time.monotonic() + _LOOKING_BACK_SECONDS
    measuring.measure_restarts(
        timezone.now(),
        settings.CONCERTINA.state_dir,
        has_time=lambda: time.monotonic() < ends_at,
    )


@shared_task(name="control_plane.tasks.read_scripts")
def read_scripts() -> None:
    """Read what scripts without the library tell of their progress. Bounded; no tick waits for it.

    One that takes longer than until the next time goes on alone, so that nothing is read twice.
    """
    with session_lock(READING_SCRIPTS) as is_alone:
        if is_alone:
            ends_at = time.monotonic() + _READING_SECONDS
            reading.read_scripts(
                timezone.now(),
                settings.CONCERTINA.state_dir,
                has_time=lambda: time.monotonic() < ends_at,
            )


@shared_task(name="control_plane.tasks.look_ahead")
def look_ahead() -> None:
    """Predict when every job starts and finishes, with its share of a core; no tick waits for it.

    Where processors are busy it may take longer than until the next time, which is then skipped, so
    that other background work finds a process.
    """
    from autoscaler.predictions import live_jobs  # noqa: PLC0415 - it loads scipy
    from autoscaler.predictions.last_look import LastLook  # noqa: PLC0415 - so does it

    with session_lock(LOOKING_AHEAD) as is_alone:
        if not is_alone:
            return
        with redis_client() as client, pace.paced(client, clock=time.process_time) as may_work:
            if may_work:
                live_jobs.predict_live_jobs(timezone.now(), last_look=LastLook(client))
