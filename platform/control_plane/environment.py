"""Which environment variables configure the service? All of them, read once, typed, validated."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


class BadEnvironment(Exception):
    """An environment variable is missing or does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The service's configuration."""

    database_url: str
    redis_url: str
    secret_key: str
    state_dir: Path  # logs, checkpoints and the process host's records
    service_url: str  # where job coordinators reach the api
    allowed_hosts: tuple[str, ...]
    is_debug: bool
    tick_seconds: float
    host_id: str  # names this installation's processes on the machine


def read(environ: dict[str, str] | None = None) -> Environment:
    """Read the environment.

    Raises:
        BadEnvironment: a variable is missing or does not fit; the message names it.
    """
    env = dict(os.environ) if environ is None else environ
    is_debug = _boolean(env, "CONCERTINA_DEBUG", default=False)
    return Environment(
        database_url=_text(env, "DATABASE_URL"),
        redis_url=_text(env, "REDIS_URL"),
        secret_key=_text(env, "CONCERTINA_SECRET_KEY"),
        state_dir=Path(env.get("CONCERTINA_STATE", ".concertina/state")).absolute(),
        service_url=env.get("CONCERTINA_SERVICE_URL", "http://127.0.0.1:8000"),
        allowed_hosts=tuple(env.get("CONCERTINA_ALLOWED_HOSTS", "127.0.0.1,localhost").split(",")),
        is_debug=is_debug,
        tick_seconds=_positive(env, "CONCERTINA_TICK_SECONDS", default=5.0),
        host_id=env.get("CONCERTINA_HOST_ID", "local"),
    )


def _text(env: dict[str, str], name: str) -> str:
    value = env.get(name, "")
    if not value:
        raise BadEnvironment(f"{name} is not set. `./dev up` sets it for a local run.")
    return value


def _boolean(env: dict[str, str], name: str, *, default: bool) -> bool:
    value = env.get(name, "").lower()
    if value in {"", "1", "0", "true", "false", "yes", "no"}:
        return value in {"1", "true", "yes"} if value else default
    raise BadEnvironment(f"{name}={value!r}: use true or false.")


def _positive(env: dict[str, str], name: str, *, default: float) -> float:
    raw = env.get(name, str(default))
    try:
        value = float(raw)
    except ValueError:
        value = 0.0
    if value > 0:
        return value
    raise BadEnvironment(f"{name}={raw!r}: use a number above 0, in seconds.")
