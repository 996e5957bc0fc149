"""A web server with TLS before a service, set up by the very words of docs/production/tls.md."""

from __future__ import annotations

import re
import shutil
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pytest
from local_stack.checkout import ROOT, free_port
from local_stack.processes.child_process import ChildProcess, NotReady, ProcessSpec

from tests.certificates import self_signed

_DOCUMENT: Final = ROOT / "docs" / "production" / "tls.md"
_SYSTEM_PROGRAMS: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin"
_NAME: Final = "localhost"  # which every program finds
_ADDRESS: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where people find the service; the ports are chosen before anything listens there."""

    folder: Path
    https_port: int
    http_port: int

    @property
    def url(self) -> str:
        return f"https://{_NAME}:{self.https_port}"

    @property
    def plain_url(self) -> str:
        return f"http://{_NAME}:{self.http_port}"

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    @property
    def key(self) -> Path:
        return self.folder / "key.pem"

    def trust(self) -> ssl.SSLContext:
        """Believes its certificate and no other."""
        return ssl.create_default_context(cafile=str(self.certificate))

    def client(self, token: str | None = None, *, address: str = "127.0.0.1") -> httpx.Client:
        """Somebody who comes from this address of this machine."""
        return httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            transport=httpx.HTTPTransport(verify=self.trust(), local_address=address),
            timeout=20,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebServer:
    """A program, and what has to be changed in its block of the document to try it out here."""

    name: str  # of the program, and of its block
    package: str
    command: tuple[str, ...]
    around: str  # the rest of its configuration
    changes: Callable[[Site, str], Mapping[str, str]]  # of names, ports and files only

    def configuration(self, site: Site, *, api: str) -> str:
        """What is documented, for this site and an api at this host:port."""
        fence = re.compile(rf"^```{self.name}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
        (block,) = fence.findall(_DOCUMENT.read_text())
        for said, meant in self.changes(site, api).items():
            assert block.count(said) > 0, f"{self.name}: {said!r} is not said"
            block = block.replace(said, meant)
        about = {
            "<folder>": site.folder,
            "<address>": _ADDRESS,
            "<http>": site.http_port,
            "<https>": site.https_port,
            "<block>": block,
        }
        configuration = self.around
        for name, value in about.items():
            configuration = configuration.replace(name, str(value))
        return configuration


NGINX: Final = WebServer(
    name="nginx",
    package="nginx-light",
    command=("nginx", "-e", "stderr", "-c"),
    around="""\
daemon off;
user root;
pid <folder>/nginx.pid;
events {}
http {
    access_log off;
    client_body_temp_path <folder>/body;
    proxy_temp_path <folder>/proxy;
    <block>
}
""",
    changes=lambda site, api: {
        "server_name concertina.example.com;": f"server_name {_NAME};",
        "listen 80;": f"listen {_ADDRESS}:{site.http_port};",
        "listen 443 ": f"listen {_ADDRESS}:{site.https_port} ",
        "http://127.0.0.1:8000;": f"http://{api};",
        "/etc/ssl/concertina.pem;": f"{site.certificate};",
        "/etc/ssl/concertina.key;": f"{site.key};",
    },
)
CADDY: Final = WebServer(
    name="caddy",
    package="caddy",
    command=("caddy", "run", "--adapter", "caddyfile", "--config"),
    around="""\
{
    admin off
    default_bind <address>
    storage file_system <folder>
    http_port <http>
    https_port <https>
}
<block>
""",
    changes=lambda site, api: {  # it would fetch a certificate, which nobody gives out here
        "concertina.example.com {": f"{_NAME} {{\n    tls {site.certificate} {site.key}",
        "reverse_proxy 127.0.0.1:8000": f"reverse_proxy {api}",
    },
)


@contextmanager
def planned() -> Iterator[Site]:
    """A site with ports of its own and a certificate that it signed itself."""
    folder = Path(tempfile.mkdtemp(prefix="concertina-site-"))
    https_port = free_port(18_400)
    site = Site(folder=folder, https_port=https_port, http_port=free_port(https_port + 1))
    self_signed(folder, _NAME)
    yield site
    shutil.rmtree(folder)


@contextmanager
def serving(site: Site, server: WebServer, *, api: str) -> Iterator[None]:
    """Have the web server serve the site, with `api` (host:port) behind it."""
    program = shutil.which(server.command[0], path=_SYSTEM_PROGRAMS)
    if program is None:
        pytest.skip(f"needs {server.name}: apt-get install {server.package}")
    file = site.folder / f"{server.name}.configuration"
    file.write_text(server.configuration(site, api=api))
    process = ChildProcess(
        ProcessSpec(
            name=server.name,
            command=(program, *server.command[1:], str(file)),
            log=site.folder / f"{server.name}.log",
            working_directory=site.folder,
            environment={"HOME": str(site.folder)},
            is_ready=lambda: _answers(site),
        )
    )
    try:
        process.wait_until_ready()
        yield
    except NotReady:
        pytest.fail(process.spec.log.read_text())
    finally:
        process.stop()


def _answers(site: Site) -> bool:
    try:
        return httpx.get(site.plain_url, timeout=2).is_redirect
    except httpx.TransportError:
        return False
