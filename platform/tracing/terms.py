"""Which variables switch tracing on? Those of OpenTelemetry, which other programs heed as well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_OURS: Final = "http/protobuf"


class TracingMisconfigured(ValueError):
    """A variable of OpenTelemetry does not fit."""


def is_switched_on(environ: Mapping[str, str]) -> bool:
    """True if an endpoint is named, and nothing says that there shall be no traces.

    Raises:
        TracingMisconfigured: spans could not be sent there.
    """
    named = next(((name, environ[name]) for name in _ENDPOINTS if environ.get(name)), None)
    if named is None or environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none":
        return False
    _check_endpoint(*named)
    for name in _PROTOCOLS:
        if (protocol := environ.get(name)) and protocol != _OURS:
            raise TracingMisconfigured(
                f"{name}={protocol!r}: spans are sent by {_OURS} alone, mostly to port 4318 of a"
                " collector. Remove the variable, or set it to that."
            )
    return True


def _check_endpoint(name: str, value: str) -> None:
    try:
        parts = urlsplit(value)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_address = False
    if not is_address:
        raise TracingMisconfigured(  # it may hold a password
            f"{name} is not an address of HTTP. Use the collector's, such as http://collector:4318."
        )
