"""Django settings: wiring only, everything variable comes from `control_plane.environment`."""

from __future__ import annotations

from pathlib import Path

from control_plane import database_url, environment

ENVIRONMENT = environment.read()
ROOT = Path(__file__).resolve().parents[2]

SECRET_KEY = ENVIRONMENT.secret_key
DEBUG = ENVIRONMENT.is_debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
CONCERTINA = ENVIRONMENT

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "tenancy",
    "cluster",
    "jobs",
    "autoscaler.control_loop",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
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
DATABASES = {"default": database_url.parse(ENVIRONMENT.database_url)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
