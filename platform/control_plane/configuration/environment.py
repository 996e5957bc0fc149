"""Which environment variables configure the service? All are read once, typed and validated."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cluster import installed_worker_hosts
from cluster.logs.log_files import LogBounds
from cluster.variables import BadEnvironment, EnvironmentVariables
from cluster.worker_host_kind import WorkerHostKind
from storage.code.bounds import CodeLimits
from storage.data.destinations import Destination
from storage.data.rules import DataRules
from storage.data.uploaded.bounds import DataLimits
from tenancy.single_sign_on.terms import ProviderTerms, ProxyTerms
from tracing.terms import TracingMisconfigured, is_switched_on
from webhooks.mail_server import MailServer

from concertina_worker.protocol import COORDINATOR_LOST_SECONDS
from control_plane.configuration import (
    limit_settings,
    mail_settings,
    provider_settings,
    proxy_settings,
    retention_settings,
    shell_settings,
    team_visibility,
)
from control_plane.configuration.limit_settings import LimitSettings
from control_plane.configuration.retention_settings import RetentionSettings
from control_plane.configuration.shell_settings import ShellSettings
from control_plane.configuration.team_visibility import TeamVisibility
from jobs.admission.disk_limits import DiskLimits

__all__ = ("BadEnvironment", "Environment", "read")

# Half of how long workers wait for a coordinator: those of a lost one must find the next in time.
_LONGEST_SILENCE: Final = COORDINATOR_LOST_SECONDS / 2
_SHORTEST_KEY: Final = 20  # characters; guessed: nobody tries all of so many
_HERE: Final = "127.0.0.1,localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The service's configuration."""

    database_url: str
    redis_url: str
    secret_key: str
    secret_key_fallbacks: tuple[str, ...]  # earlier ones: what they signed and sealed still opens
    metrics_keys: tuple[str, ...]  # each opens `/metrics`; none: admins alone read it
    state_dir: Path  # logs, checkpoints and the process host's records
    service_url: str  # where people reach the api
    internal_url: str  # where job coordinators reach it
    allowed_hosts: tuple[str, ...]
    is_debug: bool
    teams_see: TeamVisibility  # of each other
    tick_seconds: float
    log_bounds: LogBounds  # of the processes of jobs
    disk_limits: DiskLimits  # of what jobs write beside their logs
    code_limits: CodeLimits  # of the code that jobs are submitted with
    data_limits: DataLimits  # of the data that teams upload
    team_model_bytes: int  # of all models that a team keeps
    data_folders: tuple[Path, ...]  # below which folders may be sources of data
    data_networks: tuple[Destination, ...]  # not public, and data may be fetched from there
    webhook_networks: tuple[Destination, ...]  # not public, and webhooks may be called there
    mail: MailServer | None  # None: no mail is sent
    provider: ProviderTerms | None  # by which people sign in; None: by password alone
    proxy: ProxyTerms | None  # whose headers say who somebody is; None: nobody's
    invited_make_accounts: bool  # with a password; else they sign in by a provider or a proxy
    cache_bytes: int  # of data that was fetched
    node_lost_seconds: float  # of silence, until what runs on a node counts as lost
    host_id: str  # names this installation's processes on the machine
    heartbeat_file: Path | None  # written by control and io while they live, for `probe`
    worker_host: WorkerHostKind  # configured: what runs the processes of jobs
    limits: LimitSettings
    retention: RetentionSettings
    shells: ShellSettings  # of people, beside workers
    sends_traces: bool  # to a collector that OpenTelemetry's own variables name

    @property
    def data_rules(self) -> DataRules:
        """Return where sources of data may lie."""
        return DataRules(
            folders=self.data_folders,
            state_dir=self.state_dir,
            are_nodes_here=self.worker_host.platform_image is None,
            cache_bytes=self.cache_bytes,
            networks=self.data_networks,
        )


def read(environ: dict[str, str] | None = None) -> Environment:
    """Read the environment.

    Raises:
        BadEnvironment: a variable is missing or does not fit; the message names it.
    """
    variables = EnvironmentVariables(dict(os.environ) if environ is None else environ)
    service_url = variables.text("CONCERTINA_SERVICE_URL", default="http://127.0.0.1:8000")
    internal_url = variables.text("CONCERTINA_INTERNAL_URL", default=service_url)
    host_id = variables.text("CONCERTINA_HOST_ID", default="local")
    provider = provider_settings.read(variables, service_url=service_url)
    proxy = proxy_settings.read(variables)
    environment = Environment(
        database_url=variables.secret("DATABASE_URL"),
        redis_url=variables.secret("REDIS_URL"),
        secret_key=_secret_key(variables),
        secret_key_fallbacks=variables.secrets("CONCERTINA_SECRET_KEY_FALLBACKS"),
        metrics_keys=_metrics_keys(variables),
        state_dir=Path(variables.text("CONCERTINA_STATE", default=".concertina/state")).absolute(),
        service_url=service_url,
        internal_url=internal_url,
        allowed_hosts=_allowed_hosts(variables, internal_url),
        is_debug=variables.boolean("CONCERTINA_DEBUG", default=False),
        teams_see=team_visibility.read(variables),
        tick_seconds=variables.seconds("CONCERTINA_TICK_SECONDS", default=5.0),
        log_bounds=_log_bounds(variables),
        disk_limits=_disk_limits(variables),
        code_limits=_code_limits(variables),
        data_limits=_data_limits(variables),
        team_model_bytes=variables.whole("CONCERTINA_TEAM_MODELS_GB", default=500, at_least=1)
        << 30,
        data_folders=_data_folders(variables),
        data_networks=_networks(variables, "CONCERTINA_DATA_NETWORKS"),
        webhook_networks=_networks(variables, "CONCERTINA_WEBHOOK_NETWORKS"),
        mail=mail_settings.read(variables),
        provider=provider,
        proxy=proxy,
        invited_make_accounts=variables.boolean(
            "CONCERTINA_INVITED_MAKE_ACCOUNTS", default=provider is None and proxy is None
        ),
        cache_bytes=variables.size("CONCERTINA_CACHE_BYTES", default=100 << 30, at_least=1 << 20),
        node_lost_seconds=variables.seconds(
            "CONCERTINA_NODE_LOST_SECONDS", default=60.0, at_most=_LONGEST_SILENCE
        ),
        host_id=host_id,
        heartbeat_file=_path(variables.text("CONCERTINA_HEARTBEAT_FILE", default="")),
        worker_host=installed_worker_hosts.chosen(variables, host_id=host_id),
        limits=limit_settings.read(variables),
        retention=retention_settings.read(variables),
        shells=shell_settings.read(variables),
        sends_traces=_sends_traces(variables),
    )
    environment.worker_host.check(environment)
    return environment


def _log_bounds(variables: EnvironmentVariables) -> LogBounds:
    """Raises: BadEnvironment, if a job may keep less than one of its processes."""
    usual = LogBounds()
    of_process, of_job = (
        variables.whole(f"CONCERTINA_{whose}_LOG_MB", default=default >> 20, at_least=1)
        for whose, default in (("PROCESS", usual.process_bytes), ("JOB", usual.job_bytes))
    )
    if of_job < of_process:
        raise BadEnvironment(
            f"CONCERTINA_JOB_LOG_MB={str(of_job)!r}: one process of a job may keep"
            f" CONCERTINA_PROCESS_LOG_MB={of_process}. Use that or more."
        )
    return LogBounds(process_bytes=of_process << 20, job_bytes=of_job << 20)


def _disk_limits(variables: EnvironmentVariables) -> DiskLimits:
    """Raises: BadEnvironment, if a job that says nothing may write more than one that asks."""
    known = DiskLimits()
    usual, most = (
        variables.whole(f"CONCERTINA_{whose}_DISK_GB", default=default >> 30, at_least=1)
        for whose, default in (("JOB", known.usual_bytes), ("MOST_JOB", known.most_bytes))
    )
    if most < usual:
        raise BadEnvironment(
            f"CONCERTINA_MOST_JOB_DISK_GB={str(most)!r}: a job that asks for nothing may write"
            f" CONCERTINA_JOB_DISK_GB={usual}. Use that or more."
        )
    files = variables.whole("CONCERTINA_JOB_FILES", default=known.most_files, at_least=1000)
    team = variables.whole("CONCERTINA_TEAM_DISK_GB", default=known.team_bytes >> 30, at_least=1)
    return DiskLimits(
        usual_bytes=usual << 30, most_bytes=most << 30, most_files=files, team_bytes=team << 30
    )


def _secret_key(variables: EnvironmentVariables) -> str:
    """Read the secret key; a process that neither signs nor decrypts anything makes up its own."""
    if variables.boolean("CONCERTINA_SIGNS", default=True):
        return variables.secret("CONCERTINA_SECRET_KEY")
    return secrets.token_urlsafe(48)


def _metrics_keys(variables: EnvironmentVariables) -> tuple[str, ...]:
    """Raises: BadEnvironment, if one is so short that it could be guessed."""
    name = "CONCERTINA_METRICS_KEYS"
    keys = variables.secrets(name)
    if any(len(key) < _SHORTEST_KEY for key in keys):
        raise BadEnvironment(
            f"{name}: a key has fewer than {_SHORTEST_KEY} characters. Make one with"
            " `openssl rand -hex 32`."
        )
    return keys


def _sends_traces(variables: EnvironmentVariables) -> bool:
    """Raises: BadEnvironment, if they could not be sent where they are to be."""
    try:
        return is_switched_on(variables.environ)
    except TracingMisconfigured as problem:
        raise BadEnvironment(str(problem)) from None


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _allowed_hosts(variables: EnvironmentVariables, internal_url: str) -> tuple[str, ...]:
    """Return the named hosts, and the one by which coordinators call."""
    named = variables.text("CONCERTINA_ALLOWED_HOSTS", default=_HERE).split(",")
    return tuple(dict.fromkeys([*named, *filter(None, [urlsplit(internal_url).hostname])]))


def _code_limits(variables: EnvironmentVariables) -> CodeLimits:
    known = CodeLimits()
    snapshot = variables.whole(
        "CONCERTINA_CODE_MB", default=known.snapshot.most_bytes >> 20, at_least=1
    )
    team = variables.whole("CONCERTINA_TEAM_CODE_GB", default=known.team_bytes >> 30, at_least=1)
    bounds = replace(known.snapshot, most_bytes=snapshot << 20)
    return replace(known, snapshot=bounds, team_bytes=team << 30)


def _data_limits(variables: EnvironmentVariables) -> DataLimits:
    known = DataLimits()
    one, team = (
        variables.whole(f"CONCERTINA_{whose}DATA_GB", default=default >> 30, at_least=1) << 30
        for whose, default in (("", known.most_bytes), ("TEAM_", known.team_bytes))
    )
    return replace(known, most_bytes=one, team_bytes=team)


def _data_folders(variables: EnvironmentVariables) -> tuple[Path, ...]:
    """Raises: BadEnvironment, if one is not a folder's full path."""
    name = "CONCERTINA_DATA_FOLDERS"
    text = variables.text(name, default="")
    folders = tuple(Path(one.strip()) for one in text.split(",") if one.strip())
    if any(not one.is_absolute() or ".." in one.parts or one == Path("/") for one in folders):
        raise BadEnvironment(
            f"{name}={text!r}: use full paths with commas between, such as"
            " /srv/datasets,/mnt/nfs, and not all of the machine."
        )
    return folders


def _networks(variables: EnvironmentVariables, name: str) -> tuple[Destination, ...]:
    """Raises: BadEnvironment, if one is neither a network nor an address with its port."""
    text = variables.text(name, default="")
    try:
        return tuple(Destination.parse(one.strip()) for one in text.split(",") if one.strip())
    except ValueError as error:
        raise BadEnvironment(
            f"{name}={text!r}: {error}. Use networks or addresses with commas between, such as"
            " 10.2.0.0/24,10.3.0.7:9000."
        ) from None
