"""Django settings: wiring only; everything variable comes from `configuration.environment`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from celery.schedules import crontab

from autoscaler.job_network import JobNetwork
from autoscaler.planning.decisions.explanation import Closing, Hindrance, RemedyKind
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.decisions.pool_offer import PoolAnswer
from autoscaler.team_budget import WhenUsedUp
from control_plane.configuration import environment, redis_url, structured_logging
from control_plane.database import database_url
from control_plane.setup.changes import SetupAction
from control_plane.setup.objects import SetupKind
from jobs.job_mode import JobMode
from jobs.lifecycle import JobState
from jobs.wait_condition import WaitCondition
from jobs.worker_phase import WorkerPhase

ENVIRONMENT = environment.read()
ROOT = Path(__file__).resolve().parents[2]
CONCERTINA = ENVIRONMENT

SECRET_KEY = ENVIRONMENT.secret_key
SECRET_KEY_FALLBACKS = list(ENVIRONMENT.secret_key_fallbacks)
DEBUG = ENVIRONMENT.is_debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)

INSTALLED_APPS = [
    "control_plane.apps.AdministrationConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "control_plane",
    "tenancy",
    "storage",
    "cluster",
    "jobs",
    "autoscaler.gpu_accounts",
    "autoscaler.control_loop",
    "autoscaler.simulation.api",
    "webhooks",
    "schedules",
    "sweeps",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "control_plane.web.security_headers.SecurityHeadersMiddleware",
    "control_plane.web.plain_addresses.PlainAddressMiddleware",
    "control_plane.web.answers.compression.CompressedAnswersMiddleware",
    "control_plane.web.repeated.unchanged_answers.UnchangedAnswersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "control_plane.api.people.proxy_sessions.ProxySessionsMiddleware",
    "control_plane.front.principal.PrincipalMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "control_plane.api.audit.middleware.AuditMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
ROOT_URLCONF = "control_plane.urls"
ASGI_APPLICATION = "control_plane.asgi.application"
APPEND_SLASH = True  # for the admin; addresses of the API never end in one
DATABASES = {
    "default": database_url.parse(ENVIRONMENT.database_url)
    # A thread keeps its connection: to connect anew costs more than what most requests ask. It is
    # tried before it is used again, for the database may have been away.
    | {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True}
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LOGGING = structured_logging.CONFIGURATION

# Files: the dashboard's build at the root, Django's and the API page's under static/.
DASHBOARD_DIR = ROOT / "frontend" / "dist"
STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True  # no collectstatic step
WHITENOISE_ROOT = DASHBOARD_DIR if DASHBOARD_DIR.is_dir() else None
# The build names them after their content, so a browser never needs to ask for one again.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/[\w.-]+-[\w-]{8}\.(js|css)$"

# Cookies and headers. Two installations on one machine share a host, hence a name for each.
# Where people come over TLS, a proxy of ours is before us, and what it says of them is believed.
_IS_HTTPS = ENVIRONMENT.service_url.startswith("https://")
SESSION_COOKIE_NAME = "concertina_session_" + re.sub(r"\W", "_", ENVIRONMENT.host_id)
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _IS_HTTPS
CSRF_COOKIE_SECURE = _IS_HTTPS
CSRF_TRUSTED_ORIGINS = [ENVIRONMENT.service_url]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _IS_HTTPS else None
X_FRAME_OPTIONS = "DENY"
# Sessions in the database name the backend by this path.
AUTHENTICATION_BACKENDS = ["tenancy.sign_in.ThrottledBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "tenancy.access.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "control_plane.api.limited_tokens.WithinTokenBounds",
    ],
    "DEFAULT_RENDERER_CLASSES": ["control_plane.web.answers.json_answers.FiniteJsonRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "control_plane.web.body_parsers.BoundedJsonParser",
        "control_plane.web.body_parsers.YamlParser",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": (
        "control_plane.web.answers.negotiation.ForgivingNegotiation"
    ),
    "NUM_PROXIES": int(_IS_HTTPS),  # whose word counts for the address of a request
    "DEFAULT_SCHEMA_CLASS": "control_plane.api.schema.operations.Schema",
    "EXCEPTION_HANDLER": "control_plane.web.answers.error_responses.handle",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Concertina",
    "DESCRIPTION": "Elastic deep-learning training that many teams share. Every error has the"
    " same body: `code`, `message` and `details`.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": False,
    "ENUM_NAME_OVERRIDES": {
        "JobState": [state.value for state in JobState],
        "JobReason": "jobs.api.serializers.vocabulary.REASONS",
        "Action": [action.value for action in Action],
        "Hindrance": [hindrance.value for hindrance in Hindrance],
        "PoolAnswer": [answer.value for answer in PoolAnswer],
        "RemedyKind": [kind.value for kind in RemedyKind],
        "LimitUnit": "jobs.queries.limits_of_use.LIMIT_UNITS",
        "PoolAdmission": "cluster.models.pool.ADMISSION_VARIANTS",
        "MachineEventKind": "cluster.models.machines.MACHINE_EVENT_KINDS",
        "ReclaimTarget": "tenancy.models.fair_share.RECLAIM_TARGETS",
        "SetupAction": [action.value for action in SetupAction],
        "SetupKind": [kind.value for kind in SetupKind],
        "NodeClosing": [closing.value for closing in Closing],
        "EventKind": "jobs.api.serializers.vocabulary.EVENT_KINDS",
        "JobMode": JobMode.choices(),
        "WaitCondition": WaitCondition.choices(),
        "WorkerPhase": WorkerPhase.choices(),
        "JobNetwork": JobNetwork.choices(),
        "WhenUsedUp": WhenUsedUp.choices(),
        "DataSourceKind": "storage.models.DataSource.Kind",
        "MemberRole": "tenancy.models.Membership.Role",
        "TeamPermission": "control_plane.api.teams.members.PERMISSIONS",
        "TokenScope": "tenancy.models.TokenScope",
        "AuditOutcome": "tenancy.models.AuditOutcome",
        "AuditSenderKind": "tenancy.models.AuditSenderKind",
        "TokenState": "tenancy.models.TokenState",
        "SecretKind": "tenancy.models.Secret.Kind",
        "WebhookShape": "webhooks.models.WebhookShape",
        "DeliveryState": "webhooks.models.DeliveryState",
        "Overlap": "schedules.models.Overlap",
        "CatchUp": "schedules.models.CatchUp",
        "ScheduleRunState": "schedules.models.RunState",
        "ModelState": ["storing", "stored", "lost"],
        "HealthStatus": ["ok", "unavailable"],
        "SimulationState": "autoscaler.simulation.api.models.Simulation.State",
        "LogStream": ["stdout", "stderr"],
        "DeviceLoginProgress": "tenancy.models.DeviceLogin.State",
        "KeptPartName": "control_plane.api.teams.retention.PARTS",
        "RemovedPart": "control_plane.api.results.removals.PARTS",
        "WebhookEventKind": "control_plane.api.webhooks.documents.KINDS",
        "ProgressUnit": "jobs.models.generation.ProgressUnit",
        "RestartSign": "jobs.models.generation.RestartSign",
        "SweepResource": "control_plane.api.sweeps.documents.RESOURCES",
        "ShellSignal": "control_plane.api.shells.endpoint.SIGNALS",
        "MetricGoal": ["min", "max"],
        "ServiceStatus": ["ok", "impaired", "unavailable"],
        "SimulatedAdmission": ["queueing", "dropping"],
        "SizeVerdict": ["unknown", "keep", "fewer"],
        "WithoutRoom": ["shrinks", "pauses", "stays"],
        "ArrivalPattern": ["poisson", "bursty", "daily"],
        "JobMix": ["production", "applications", "kinds"],
        "TraceFormat": ["auto", "concertina", "philly", "pollux", "pai"],
        "TraceSourceKind": ["generated", "uploaded", "history"],
    },
    "ENUM_SUFFIX": "Choice",  # of what has no name above, which a test finds
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "control_plane.api.sweeps.spec_schema.add_sweep_terms",
        "jobs.api.spec_schema.add_job_spec",
        "control_plane.api.schema.limits.add_limits",
        "control_plane.api.schema.plain_parameters.add_patterns",
    ],
}

CELERY_BROKER_URL = redis_url.broker_url(ENVIRONMENT.redis_url)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # Redis may be away for any time
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    **redis_url.PATIENCE,
}
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.0, "interval_max": 0.2}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "io"
CELERY_TASK_ROUTES = {"autoscaler.control_loop.*": {"queue": "control"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = TIME_ZONE
CELERY_DB_REUSE_MAX = sys.maxsize  # never by Celery: see celery.keep_connection
CELERY_BEAT_SCHEDULE = {
    "tick": {
        "task": "autoscaler.control_loop.tasks.tick",
        "schedule": ENVIRONMENT.tick_seconds,
        # What could not run in time is not worth running: the next tick sees the same world.
        "options": {"queue": "control", "expires": ENVIRONMENT.tick_seconds},
    },
    "look_ahead": {
        "task": "control_plane.tasks.look_ahead",
        "schedule": 15.0,
        "options": {"queue": "io", "expires": 15.0},
    },
    "look_back": {
        "task": "control_plane.tasks.look_back",
        "schedule": 10.0,
        "options": {"queue": "io", "expires": 10.0},
    },
    "read_scripts": {
        "task": "control_plane.tasks.read_scripts",
        "schedule": 5.0,
        "options": {"queue": "io", "expires": 5.0},
    },
    "look_after_simulations": {
        "task": "autoscaler.what_if.tasks.look_after",
        "schedule": 20.0,
        "options": {"queue": "io", "expires": 20.0},
    },
    "tell_webhooks": {
        "task": "control_plane.tasks.tell_webhooks",
        "schedule": 2.0,
        "options": {"queue": "io", "expires": 2.0},
    },
    "submit_scheduled": {
        "task": "control_plane.tasks.submit_scheduled",
        "schedule": 10.0,
        "options": {"queue": "io", "expires": 10.0},
    },
    "steer_sweeps": {
        "task": "control_plane.tasks.steer_sweeps",
        "schedule": 3.0,
        "options": {"queue": "io", "expires": 3.0},
    },
    "close_gpu_accounts": {  # of the hour that is over; else there is nothing to do
        "task": "control_plane.tasks.close_gpu_accounts",
        "schedule": 300.0,
        "options": {"queue": "io", "expires": 300.0},
    },
    "check_gpu_accounts": {
        "task": "control_plane.tasks.check_gpu_accounts",
        "schedule": crontab(hour="3", minute="20"),
        "options": {"queue": "io", "expires": 3600.0},
    },
    "keep_setup": {
        "task": "control_plane.tasks.keep_setup",
        "schedule": 60.0,
        "options": {"queue": "io", "expires": 60.0},
    },
    "take_what_lapsed": {
        "task": "control_plane.tasks.take_what_lapsed",
        "schedule": 600.0,
        "options": {"queue": "io", "expires": 600.0},
    },
    "forget_what_is_old": {
        "task": "control_plane.tasks.forget_what_is_old",
        "schedule": 600.0,
        "options": {"queue": "io", "expires": 600.0},
    },
}
