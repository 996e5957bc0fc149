"""A certificate that nobody but the test believes."""

from __future__ import annotations

import subprocess
from pathlib import Path


def self_signed(folder: Path, name: str = "localhost") -> tuple[Path, Path]:
    """Return a certificate for the name, signed by itself, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        (
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-keyout", key, "-out", certificate, "-days", "2"),
            *("-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"),
        ),
        check=True,
        capture_output=True,
    )
    return certificate, key
