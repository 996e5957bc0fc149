"""Is data of an object store fetched before its jobs start, once for all of them, and told of?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cluster.worker_host import ProcessPhase
from storage.data.cache import copies
from storage.data.cache.paths import CachePaths
from storage.data.destinations import Destination
from storage.data.rules import DataRules
from storage.models import DataCopy, DataSource
from tenancy.models import Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import variables

from autoscaler.control_loop.arriving.arrivals import DataArrivals, with_their_data
from autoscaler.control_loop.arriving.telling import tell
from autoscaler.control_loop.lease.orders import FencedOrders
from autoscaler.control_loop.observe.for_planner.cluster_view import cluster_state
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.observe.jobs.views import live_jobs
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.tick_context import TickContext
from jobs.commands import control
from jobs.models import Job
from tests.control_loop.starting.ticking import ticking
from tests.control_loop.world import World, fresh, kinds, live_workers, states
from tests.object_store import CREDENTIAL, ObjectStore, noise, object_store

TRAIN = noise(300_000, "train")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as found:
        yield found


@pytest.fixture
def source(world: World, store: ObjectStore) -> Iterator[DataSource]:
    """Source `digits`: a file behind a URL, which is read in half the time that S3 takes."""
    store.put("digits/train.bin", TRAIN)
    world.data_rules = DataRules(
        state_dir=world.state_dir,
        networks=(Destination.parse(store.address),),
        cache_bytes=1_000_000,
    )
    world.arrivals = DataArrivals()
    made = DataSource.objects.create(
        name="digits",
        kind="object_store",
        place={"url": f"{store.endpoint}/datasets/digits/train.bin"},
    )
    made.teams.add(Team.objects.get(name="vision"))
    yield made
    world.arrivals.fetches.close()


@pytest.fixture
def bucket(world: World, source: DataSource, store: ObjectStore) -> DataSource:
    """Source `digits` as two objects in a bucket, with a secret of team vision."""
    store.put("digits/test/labels", b"0123456789")
    team = Team.objects.get(name="vision")
    team_secrets.put(team=team, name="s3", content=variables(CREDENTIAL), by="ada")
    source.place = {
        "url": "s3://datasets/digits",
        "endpoint": store.endpoint,
        "secret": "s3",
        "team": "vision",
    }
    source.save()
    return source


def using(world: World, *names: str, **more: object) -> Job:
    return world.job(data=[{"source": name} for name in names or ("digits",)], **more)


def ready(source: DataSource) -> bool:
    return source.copies.filter(state="ready").exists()


def folder(world: World, job: Job, source: DataSource) -> Path:
    version = fresh(job).data_versions[source.name]
    return CachePaths(state_dir=world.state_dir).folder(source.pk, version)


def test_a_job_waits_without_gpus_until_its_data_is_there(world: World, bucket: DataSource) -> None:
    job = using(world)
    world.wish(job, 1)
    world.tick()
    waiting = fresh(job)
    assert (waiting.state, waiting.reason) == ("queued", "preparing")
    assert waiting.message == "Data digits: its store is asked what is there."
    assert "preparing" in kinds(job)
    ticking(world, lambda: states(job))
    (worker,) = live_workers(job)
    seen = world.host.launch_of(worker)
    (data,) = (mount for mount in seen.mounts if not mount.is_ours)
    assert (data.source, data.is_writable) == (folder(world, job, bucket), False)
    assert seen.env["CONCERTINA_DATA_DIGITS"] == str(data.source)
    assert (data.source / "train.bin").read_bytes() == TRAIN
    assert (data.source / "test" / "labels").read_bytes() == b"0123456789"
    assert not {*CREDENTIAL} & {*seen.env, *seen.secret_env}
    copy = bucket.copies.get()
    assert (copy.bytes, copy.objects_count) == (300_010, 2)
    assert kinds(job).count("preparing") == 1

    # What is there already is fetched again for nobody, and what is new only once.
    number = (data.source / "train.bin").stat().st_ino
    second = using(world, name="second")
    world.wish(second, 1)
    ticking(world, lambda: states(second))
    assert fresh(second).data_versions == fresh(job).data_versions
    assert (folder(world, second, bucket) / "train.bin").stat().st_ino == number


def test_a_job_keeps_its_version_and_the_next_gets_the_newest(
    world: World, bucket: DataSource, store: ObjectStore
) -> None:
    first = using(world)
    world.wish(first, 1)
    ticking(world, lambda: states(first))
    store.put("digits/test/labels", b"corrected!")
    second = using(world, name="second")
    world.wish(second, 1)
    ticking(world, lambda: states(second))
    old, new = folder(world, first, bucket), folder(world, second, bucket)
    assert (old / "test" / "labels").read_bytes() == b"0123456789"
    assert (new / "test" / "labels").read_bytes() == b"corrected!"
    assert (old / "train.bin").stat().st_ino == (new / "train.bin").stat().st_ino, "not fetched"
    world.wish(first, 2)
    world.tick(2)
    for worker in live_workers(first):
        (data,) = (one for one in world.host.launch_of(worker).mounts if not one.is_ours)
        assert data.source == old


def test_joiners_wait_for_data_while_the_others_train(
    world: World, source: DataSource, store: ObjectStore
) -> None:
    job = using(world)
    world.wish(job, 1)
    ticking(world, lambda: states(job))
    world.running(job, 1)
    (first,) = live_workers(job)
    world.arrivals = DataArrivals()
    missing = folder(world, job, source)
    missing.rename(missing.with_name("elsewhere"))  # an admin made room
    world.wish(job, 2)
    world.tick(2)
    assert f"{job.id}-1-2" not in world.host.list().by_id()
    assert world.host.list().by_id()[first].phase is ProcessPhase.RUNNING
    assert fresh(job).message.startswith(f"{job.id}-1-2: data digits: 0 % of 300 kB")
    ticking(world, lambda: f"{job.id}-1-2" in world.host.list().by_id())
    assert (missing / "train.bin").read_bytes() == TRAIN


def test_a_change_costs_as_long_as_data_takes_beside_what_it_costs_anyway(world: World) -> None:
    job = world.job()
    world.wish(job, 1)
    world.running(job, 1)
    views = {view.id: view for view in live_jobs(world.host.list().by_id())}

    def stall_seconds(views: Mapping[str, LiveJob]) -> float:
        (seen,) = cluster_state(views.values(), world.clock()).state.jobs
        return seen.stall_seconds

    late = with_their_data(views, {job.id: StartPrerequisite(seconds=600.0)})
    assert stall_seconds(late) == pytest.approx(stall_seconds(views) + 600.0)


class Underway(DataArrivals):
    """All jobs that wait lack the same."""

    lacking = StartPrerequisite(note="data digits: 34 % of 120 GB, about 6 min", seconds=360.0)

    def go_on(
        self, views: Iterable[LiveJob], context: TickContext, giving: FencedOrders
    ) -> Mapping[str, StartPrerequisite]:
        assert giving.state_dir == context.data.state_dir
        waiting = [view for view in views if view.is_queued]
        found = dict.fromkeys([view.id for view in waiting], self.lacking)
        tell(waiting, found, context)
        return found


def test_when_data_is_there_stands_on_the_job_until_it_starts(world: World) -> None:
    world.arrivals = Underway()
    job = world.job()
    world.wish(job, 1)
    world.tick()
    waiting = fresh(job)
    assert (waiting.state, waiting.reason) == ("queued", "preparing")
    assert waiting.message == "Data digits: 34 % of 120 GB, about 6 min."
    assert waiting.prepared_at is not None
    assert (waiting.prepared_at - world.clock()).total_seconds() == pytest.approx(360, abs=1)
    world.arrivals.lacking = StartPrerequisite(note="data digits: its store does not answer")
    world.tick()
    assert fresh(job).prepared_at is None, "nobody can tell"
    world.arrivals = DataArrivals()
    world.tick()
    assert (fresh(job).state, fresh(job).prepared_at) == ("starting", None)


def test_the_cache_keeps_what_live_jobs_use_and_lets_the_oldest_go(
    world: World, source: DataSource, store: ObjectStore
) -> None:
    assert world.data_rules is not None
    world.data_rules = replace(world.data_rules, cache_bytes=400_000)
    first = using(world, elastic={"mode": "restart"})  # no coordinator has to say farewell
    world.wish(first, 1)
    ticking(world, lambda: states(first))
    kept = folder(world, first, source)
    store.put("digits/train.bin", noise(300_000, "other"))
    second = using(world, name="second")
    world.wish(second, 1)
    ticking(world, lambda: "wait for room" in fresh(second).message)
    assert fresh(second).message == (
        "Data digits: 300 kB wait for room in the cache, which data of live jobs fills."
    )
    assert kept.is_dir()
    control.cancel(job_id=first.id, actor="ada")
    (worker,) = live_workers(first)
    world.host.exit(worker, 0)
    ticking(world, lambda: states(second))
    assert not kept.exists()
    assert [one.version for one in DataCopy.objects.all()] == [
        fresh(second).data_versions["digits"]
    ]
    large = noise(500_000, "large")
    store.put("digits/train.bin", large)
    third = using(world, name="third")
    world.wish(third, 1)
    ticking(world, lambda: fresh(third).state == "failed")
    assert fresh(third).reason == "data_unavailable"
    assert fresh(third).message == (
        "Data digits has 500 kB, and the cache holds 400 kB. Ask an admin to raise"
        " CONCERTINA_CACHE_BYTES, or use a part of it."
    )


def test_a_store_that_refuses_fails_its_jobs_alone(
    world: World, source: DataSource, store: ObjectStore
) -> None:
    other = DataSource.objects.create(
        name="nothing",
        kind="object_store",
        place={"url": f"{store.endpoint}/datasets/nothing"},
    )
    other.teams.add(Team.objects.get(name="vision"))
    lost, found = using(world, "digits", "nothing", name="lost"), using(world)
    world.wish(lost, 1)
    world.wish(found, 1)
    ticking(world, lambda: states(lost) and states(found))
    assert fresh(lost).state == "failed"
    assert fresh(lost).message.startswith("Data nothing cannot be fetched: http://")
    assert states(found) == ["starting"]


def test_a_secret_that_was_deleted_is_named(world: World, bucket: DataSource) -> None:
    team_secrets.Secret.objects.all().delete()
    job = using(world)
    world.tick()
    assert (fresh(job).state, fresh(job).reason) == ("failed", "data_unavailable")
    assert fresh(job).message.startswith("Secret s3 of team vision was deleted.")


def fetcher_of(world: World) -> subprocess.Popen[bytes]:
    """The one that runs, or has ended since the tick."""
    (one,) = world.arrivals.fetches._running.values()  # noqa: SLF001 - nobody else tells
    return one.process


def test_a_fetcher_that_is_killed_is_followed_by_another(world: World, source: DataSource) -> None:
    job = using(world)
    world.wish(job, 1)
    world.tick()
    fetcher_of(world).kill()
    ticking(world, lambda: "ended with code -9; it is tried again" in fresh(job).message)
    world.clock.advance(3.0)
    ticking(world, lambda: states(job))
    assert (folder(world, job, source) / "train.bin").read_bytes() == TRAIN


def test_what_comes_of_a_fetch_and_cannot_be_kept_stops_no_tick(
    world: World, source: DataSource
) -> None:
    job = using(world)
    world.tick()
    fetcher_of(world).wait()
    CachePaths(state_dir=world.state_dir).listing(source.pk, "").unlink()
    world.tick()
    assert fresh(job).message == ("Data digits: what came of it cannot be kept; it is tried again.")
    assert not source.copies.exists()
    world.clock.advance(3.0)
    world.wish(job, 1)
    ticking(world, lambda: states(job))


def known(world: World, name: str, *, state: str, number: int) -> DataCopy:
    """A version of a source, as of a store that was just looked at."""
    source = DataSource.objects.create(
        name=name, kind="object_store", place={"url": "https://127.0.0.1/nobody"}
    )
    source.teams.add(Team.objects.get(name="vision"))
    paths = CachePaths(state_dir=world.state_dir)
    copy = DataCopy.objects.create(
        source=source,
        version=f"{number:064x}",
        state=state,
        bytes=300_000,
        objects_count=1,
        listed_at=world.clock() + timedelta(hours=1),
        used_at=world.clock(),
    )
    paths.make(source.pk)
    paths.listing(source.pk, copy.version).touch()
    if state == "ready":
        paths.folder(source.pk, copy.version).mkdir()
    return copy


def test_what_a_job_is_given_in_this_tick_makes_no_room_for_the_next(
    world: World, source: DataSource
) -> None:
    assert world.data_rules is not None
    world.data_rules = replace(world.data_rules, cache_bytes=700_000)
    for number, (name, state) in enumerate(
        (("first", "listed"), ("there", "ready"), ("last", "listed"))
    ):
        known(world, name, state=state, number=number)
        world.wish(using(world, name, name=name), 1)
    world.tick()
    assert [one.state for one in DataCopy.objects.order_by("pk")] == ["fetching", "ready", "listed"]
    last = Job.objects.get(name="last")
    assert "wait for room in the cache" in last.message
    assert states(Job.objects.get(name="there")) == ["starting"]


def test_of_a_store_that_changes_all_the_time_little_is_remembered(
    world: World, source: DataSource, store: ObjectStore
) -> None:
    old = [known(world, f"s{number}", state="listed", number=number) for number in range(12)]
    source.copies.set(old)
    used = {(source.pk, old[0].version)}
    assert copies.forget_old_listings(source, used) == [(source.pk, old[1].version)]
    assert source.copies.count() == 11


def test_nobody_fetches_for_a_job_that_was_cancelled(world: World, source: DataSource) -> None:
    job = using(world)
    world.tick()
    assert (source.pk, "") in world.arrivals.fetches
    control.cancel(job_id=job.id, actor="ada")
    world.tick()
    assert (source.pk, "") not in world.arrivals.fetches
    assert fresh(job).state == "cancelled"


def test_a_source_that_goes_while_it_is_used_is_told(world: World, source: DataSource) -> None:
    job = using(world)
    world.wish(job, 1)
    ticking(world, lambda: states(job))
    world.running(job, 1)
    DataSource.objects.all().delete()
    world.wish(job, 2)
    world.tick(2)
    assert fresh(job).state in {"running", "rescaling"}
    assert f"{job.id}-1-2" not in world.host.list().by_id()
