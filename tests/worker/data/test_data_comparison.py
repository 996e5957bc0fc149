"""Workers that see other data than the first are found before a step counts."""

from __future__ import annotations

import pytest

from concertina_worker.collective.group import Group
from concertina_worker.samples.comparison import (
    DataMismatchError,
    OtherDataMismatchError,
    View,
    ViewComparison,
    check_resumed,
)
from tests.worker.gathering import a_plan, gather


def compared(**views: View) -> dict[str, int | str]:
    """What each worker learns: how far anybody loads ahead, or what is wrong."""

    def compare(group: Group) -> int | str:
        own = views[group.worker]
        comparison = ViewComparison(own, rank=group.rank, size=group.size, exchange=group.start_sum)
        try:
            return comparison.steps_ahead()
        except (DataMismatchError, OtherDataMismatchError) as error:
            return f"{type(error).__name__}: {error}"

    return gather(a_plan("".join(views)), compare)


def view(
    length: int | None = 97, fingerprint: int | None = 1, *, stop: int = 20, ahead: int = 0
) -> View:
    return View(length=length, fingerprint=fingerprint, batch_stop=stop, steps_ahead=ahead)


def test_workers_that_see_the_same_learn_how_far_anybody_loads_ahead() -> None:
    assert compared(a=view(ahead=2), b=view(ahead=8), c=view()) == {"a": 8, "b": 8, "c": 8}
    assert compared(a=view(None, None), b=view(None, None)) == {"a": 0, "b": 0}


def test_whoever_differs_from_the_first_learns_both_numbers_and_the_others_that_it_goes() -> None:
    seen = compared(a=view(), b=view(96), c=view())
    assert seen["a"] == seen["c"] == "OtherDataMismatchError: another worker sees other data"
    assert str(seen["b"]).startswith(
        "DataMismatchError: this worker's data set has 96 samples, "
        "but the epoch has begun with 97: every worker must see the same samples"
    )


def test_the_same_number_in_another_order_is_found() -> None:
    assert "in another order" in str(compared(a=view(), b=view(fingerprint=2))["b"])


def test_a_stream_that_ends_earlier_than_that_of_the_first_is_found() -> None:
    seen = compared(a=view(None, None), b=view(17, None, stop=17))
    assert "17 samples" in str(seen["b"])
    assert "still unknown" in str(seen["b"])


def test_what_an_epoch_began_with_must_hold_when_it_is_resumed() -> None:
    check_resumed(97, 97, "length")
    check_resumed(97, None, "length")
    with pytest.raises(DataMismatchError, match="has 98 samples, but the epoch has begun with 97"):
        check_resumed(98, 97, "length")
