"""Is the service wired as it should be: environment, Redis, Celery, log lines?"""

from __future__ import annotations

import logging
import socket
import sys

import pytest
from control_plane.celery import celery_app
from control_plane.configuration import environment, redis_url
from control_plane.configuration.redis_url import broker_url
from control_plane.configuration.structured_logging import SentenceFormatter, WithoutStacks
from control_plane.database import database_url
from django.conf import settings
from kombu import Connection
from kombu.transport.redis import Channel
from psycopg2.extensions import make_dsn

GOOD = {
    "DATABASE_URL": "postgresql://u@h/d",
    "REDIS_URL": "redis://h",
    "CONCERTINA_SECRET_KEY": "k",
}


def test_the_environment_is_read_with_its_defaults() -> None:
    read = environment.read(GOOD)
    assert (read.tick_seconds, read.is_debug, read.allowed_hosts) == (
        5.0,
        False,
        ("127.0.0.1", "localhost"),
    )


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"DATABASE_URL": ""}, "DATABASE_URL"),
        ({"CONCERTINA_SECRET_KEY": ""}, "CONCERTINA_SECRET_KEY"),
        ({"CONCERTINA_DEBUG": "maybe"}, "CONCERTINA_DEBUG"),
        ({"CONCERTINA_TICK_SECONDS": "0"}, "CONCERTINA_TICK_SECONDS"),
        ({"CONCERTINA_TICK_SECONDS": "soon"}, "CONCERTINA_TICK_SECONDS"),
        ({"CONCERTINA_NODE_LOST_SECONDS": "301"}, "CONCERTINA_NODE_LOST_SECONDS.* up to 300, in"),
    ],
)
def test_a_bad_variable_is_named(changes: dict[str, str], named: str) -> None:
    with pytest.raises(environment.BadEnvironment, match=named):
        environment.read({**GOOD, **changes})


def test_database_urls_may_name_a_socket_folder() -> None:
    told = database_url.parse("postgresql://me@/data?host=/run/pg&sslmode=disable")
    assert (told["USER"], told["NAME"], told["HOST"]) == ("me", "data", "/run/pg")
    assert told["OPTIONS"] == {"sslmode": "disable"}
    with pytest.raises(ValueError, match="is not PostgreSQL"):
        database_url.parse("mysql://x/y")


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("postgresql://me@h/data", "h", ""),
        ("postgresql://me:a%40b@h:6432/data", "h", "6432"),
        ("postgresql://me@[::1]:6432/data", "::1", "6432"),
        ("postgresql://me@first:5432,second:5433/data", "first,second", "5432,5433"),
        ("postgresql://me@first,second:5433/data", "first,second", ",5433"),
        ("postgresql://me@first:5433,second/data", "first,second", "5433,"),
        ("postgresql://me@first,second/data", "first,second", ""),
    ],
)
def test_database_urls_may_name_several_hosts_and_mean_that_which_takes_writes(
    url: str, host: str, port: str
) -> None:
    told = database_url.parse(url)
    assert (told["HOST"], told["PORT"]) == (host, port)
    wanted = "read-write" if "," in host else None
    assert told["OPTIONS"].get("target_session_attrs") == wanted
    make_dsn(host=host, port=port, **told["OPTIONS"])


def test_a_database_whose_machine_vanished_is_given_up() -> None:
    over_tcp = database_url.parse("postgresql://me@h/data?keepalives_idle=5&options=-c%20a=b")
    options = over_tcp["OPTIONS"]
    assert options == {**database_url.OVER_TCP, "keepalives_idle": "5", "options": "-c a=b"}
    make_dsn(**options)  # libpq knows them all


def test_so_is_a_redis_whose_machine_vanished() -> None:
    assert redis_url.PATIENCE.items() <= celery_app.conf.broker_transport_options.items()
    assert redis_url.PATIENCE.keys() <= set(Channel.from_transport_options)
    with socket.socket() as one:
        for option, value in redis_url.PATIENCE["socket_keepalive_options"].items():
            one.setsockopt(socket.IPPROTO_TCP, option, value)


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("redis://h:1/2", "redis://h:1/2"),
        ("unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3"),
        ("unix:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0"),
    ],
)
def test_celery_gets_redis_in_its_own_words(url: str, broker: str) -> None:
    assert broker_url(url) == broker
    Connection(broker)  # understands it


def test_what_is_no_redis_is_refused() -> None:
    with pytest.raises(ValueError, match="is not Redis"):
        broker_url("amqp://h")


def test_ticks_go_to_the_control_queue_and_expire() -> None:
    schedule = celery_app.conf.beat_schedule
    assert schedule["tick"]["options"]["queue"] == "control"
    assert schedule["tick"]["options"]["expires"] == schedule["tick"]["schedule"]
    celery_app.loader.import_default_modules()
    for entry in schedule.values():
        assert entry["task"] in celery_app.tasks
    route = celery_app.amqp.router.route({}, "autoscaler.control_loop.tasks.tick")
    assert route["queue"].name == "control"
    assert celery_app.conf.task_default_queue == "io"


def test_a_log_line_is_a_sentence_with_pairs() -> None:
    record = logging.makeLogRecord(
        {
            "name": "jobs",
            "levelname": "INFO",
            "msg": "Job %s was accepted.",
            "args": ("x1",),
            "created": 0.0,
            "action": "submit",
            "team": "a b",
        }
    )
    assert SentenceFormatter().format(record) == (
        '1970-01-01T00:00:00.000Z INFO jobs Job x1 was accepted. action=submit team="a b"'
    )


def test_a_log_line_of_a_failure_has_its_traceback() -> None:
    try:
        int("broken")
    except ValueError:
        record = logging.makeLogRecord({"msg": "No.", "exc_info": sys.exc_info()})
    assert "ValueError: invalid literal" in SentenceFormatter().format(record)


def test_a_task_that_cannot_be_sent_is_told_in_one_line() -> None:
    def lines(logger: str, *said: object) -> list[str]:
        record = logging.getLogger(logger).makeRecord(
            logger, logging.ERROR, "beat.py", 1, said[0], said[1:], None
        )
        assert WithoutStacks().filter(record)
        return SentenceFormatter().format(record).splitlines()

    assert settings.LOGGING["loggers"]["celery.beat"]["filters"] == ["without_stacks"]
    (only,) = lines("celery.beat", "Message Error: %s\n%s", "nobody is there", ["a\n", "stack"])
    assert only.endswith("A task cannot be sent: nobody is there")
    assert len(lines("celery.beat", "Two\nlines")) == 2
