"""How are prices of GPU-hours set and taken back? Each holds from a day of UTC on.

A price from a day that is over changes what reports of the past say, so whoever means that has to
say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from cluster.models import Pool
from django.db import connection, transaction
from tenancy.errors import TenancyError

from autoscaler.gpu_accounts.models import AccountOwner, GpuPrice

MOST_PRICES: Final = 2_000  # in all; guessed: a hundred pools whose prices change every month
HIGHEST_PRICE: Final = 999_999
DIGITS: Final = 6
_LOCK: Final = 0x50726963  # "Pric", the number of a lock


class PricedPoolUnknown(TenancyError):
    """There is no such pool, and no account knows one of this name."""

    code, status = "not_found", 404


class NoSuchPrice(TenancyError):
    """No price of this pool begins on this day."""

    code, status = "not_found", 404


class TooManyPrices(TenancyError):
    """There are as many prices as there may be; take some back that nobody needs any more."""

    code, status = "too_many_prices", 409


class PastPrice(TenancyError):
    """It would change what reports of the past say. If that is meant, say `changes_past`."""

    code, status = "changes_past", 409


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceChange:
    """What a price was, and is now. None: there was none, or is none any more."""

    before: Decimal | None
    after: Decimal | None


def set_price(
    pool: str, since: date, per_gpu_hour: Decimal, *, today: date, changes_past: bool
) -> PriceChange:
    """Have GPU-hours of the pool cost so much from this day on, until the next price's.

    Raises: PricedPoolUnknown, TooManyPrices, PastPrice.
    """
    with transaction.atomic():
        _one_at_a_time()
        found = GpuPrice.objects.filter(pool=pool, since=since).first()
        before = found.per_gpu_hour if found else None
        if before == per_gpu_hour:
            return PriceChange(before=before, after=before)
        if found is None and not _is_known(pool):
            raise PricedPoolUnknown(f"There is no pool {pool}, and no account knows one.")
        _check_is_not_past(since, today, changes_past=changes_past)
        if found is None and GpuPrice.objects.count() >= MOST_PRICES:
            raise TooManyPrices
        GpuPrice.objects.update_or_create(
            pool=pool, since=since, defaults={"per_gpu_hour": per_gpu_hour}
        )
    return PriceChange(before=before, after=per_gpu_hour)


def take_back(pool: str, since: date, *, today: date, changes_past: bool) -> PriceChange:
    """Have the price before hold on, as if this one had never been set.

    Raises: NoSuchPrice, PastPrice.
    """
    with transaction.atomic():
        _one_at_a_time()
        found = GpuPrice.objects.filter(pool=pool, since=since).first()
        if found is None:
            raise NoSuchPrice(f"No price of pool {pool} begins on {since}.")
        _check_is_not_past(since, today, changes_past=changes_past)
        found.delete()
    return PriceChange(before=found.per_gpu_hour, after=None)


def _is_known(pool: str) -> bool:
    is_there = Pool.objects.filter(name=pool).exists()
    return is_there or AccountOwner.objects.filter(pool=pool).exists()


def _check_is_not_past(since: date, today: date, *, changes_past: bool) -> None:
    if since < today and not changes_past:
        raise PastPrice(
            f"A price from {since} on, which is past, changes what reports say of the days since"
            " then. If that is meant, say `changes_past`; else set one from today or a later day"
            " on."
        )


def _one_at_a_time() -> None:
    """So that no two who add at once come above the bound."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
