"""How is the daemon of another machine reached? By TLS or SSH, and by nobody without a key."""

from __future__ import annotations

import contextlib
import getpass
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cluster.docker_host.connection.connections import Connections
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.connection.tunnels import Tunnels
from cluster.docker_host.discovery import NodeDriverDoesNotAnswer
from cluster.usage.readings import GpuSample
from cluster.worker_host import HostUnavailable

from tests.contract.conftest import DockerBench, bench_on, exited, is_running, texts, until
from tests.contract.docker_host.docker_view import RUN_FOR_EVER
from tests.docker_daemon import DockerDaemon, import_tiny_image, private_daemon
from tests.ports import free_port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run(*command: str | Path, cwd: Path) -> None:
    subprocess.run(tuple(map(str, command)), cwd=cwd, check=True, capture_output=True)


def runs_there(bench: DockerBench) -> None:
    bench.launch("w1", RUN_FOR_EVER)
    until(lambda: is_running(bench.host, "w1"))
    until(lambda: texts(bench, "w1") == ["up"])


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an authority, of a server and of a client, as Docker's documentation makes them."""
    folder = tmp_path_factory.mktemp("certificates")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    run("openssl", "req", "-x509", *key, "-keyout", "ca-key.pem", "-out", "ca.pem", "-days", "2",
        "-subj", "/CN=authority", cwd=folder)  # fmt: skip
    (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
    (folder / "client.ext").write_text("extendedKeyUsage=clientAuth\n")
    for name, file in (("server", "server-cert.pem"), ("client", "cert.pem")):
        private = "key.pem" if name == "client" else "server-key.pem"
        run("openssl", "req", *key, "-keyout", private, "-out", "request.pem", "-subj",
            f"/CN={name}", cwd=folder)  # fmt: skip
        run("openssl", "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey",
            "ca-key.pem", "-CAcreateserial", "-out", file, "-days", "2", "-extfile",
            f"{name}.ext", cwd=folder)  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def address() -> str:
    return f"tcp://127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def tls_daemon(certificates: Path, address: str) -> Iterator[DockerDaemon]:
    daemon = private_daemon(
        *("--host", address, "--tlsverify", "--tlscacert", str(certificates / "ca.pem")),
        *("--tlscert", str(certificates / "server-cert.pem")),
        *("--tlskey", str(certificates / "server-key.pem")),
        *("--add-runtime", f"nvidia={shutil.which('runc')}"),
    )
    try:
        import_tiny_image(daemon.client())
        yield daemon
    finally:
        daemon.end()


LISTING = """#!/bin/sh
[ "$1" = -L ] && [ "$NVIDIA_VISIBLE_DEVICES" = all ] || exit 9
[ ! -e /broken ] || { echo "No devices were found"; exit 6; }
echo "GPU 0: NVIDIA H200 (UUID: GPU-11111111-2222-3333-4444-555555555555)"
"""


def test_a_nodes_gpus_are_asked_for_in_a_container(
    tls_bench: DockerBench, tls_daemon: DockerDaemon, docker_daemon: DockerDaemon
) -> None:
    """The daemon's runtime for GPUs is an ordinary one here, the image brings `nvidia-smi`.

    Somebody else died while asking before.
    """
    client = tls_daemon.client()
    import_tiny_image(client, "with-gpu:1", {"bin/nvidia-smi": LISTING})
    import_tiny_image(client, "broken:1", {"bin/nvidia-smi": LISTING, "broken": ""})
    left_behind = {
        "Image": "with-gpu:1",
        "Cmd": ["sleep", "1000"],
        "Labels": {
            "concertina.installation": tls_bench.host.installation,
            "concertina.gpu-listing": "",
        },
    }
    client.start(client.create_container_from_config(left_behind))
    (gpu,) = replace(tls_bench.host, worker_image="with-gpu:1").gpus("n1")
    assert (gpu.index, gpu.kind) == (0, "nvidia-h200")
    assert gpu.uuid == "GPU-11111111-2222-3333-4444-555555555555"
    with pytest.raises(NodeDriverDoesNotAnswer, match="No devices were found"):
        replace(tls_bench.host, worker_image="broken:1").gpus("n1")
    ordinary = DaemonEndpoint(url=docker_daemon.url)
    assert replace(tls_bench.host, endpoints=lambda: {"n1": ordinary}).gpus("n1") == ()
    assert client.containers(all=True) == []


TELLING = """#!/bin/sh
[ "$NVIDIA_VISIBLE_DEVICES" = all ] && [ "$2" = --format=csv,noheader,nounits ] || exit 9
echo "GPU-11111111-2222-3333-4444-555555555555, 0, 12, 1024, 80.50"
echo "GPU-11111111-2222-3333-4444-555555555555, 0, 93, 40960, 655.12"
echo "GPU-66666666-2222-3333-4444-555555555555, 1, [N/A], 2048, [N/A]"
exec sleep 1000
"""


def test_how_busy_a_nodes_gpus_are_is_told_by_a_container_that_stays(
    tls_bench: DockerBench, tls_daemon: DockerDaemon
) -> None:
    """As above. It is no process of a job, runs once, and goes with the installation."""
    client = tls_daemon.client()
    import_tiny_image(client, "telling:1", {"bin/nvidia-smi": TELLING})
    host = replace(tls_bench.host, worker_image="telling:1")
    with contextlib.closing(host):
        assert host.read("n1").gpus == {}
        assert client.containers(all=True) == []  # nobody needs one yet
        runs_there(replace(tls_bench, host=host))
        gpus = until(lambda: host.read("n1").gpus)
        assert gpus["0"] == gpus["GPU-11111111-2222-3333-4444-555555555555"]
        assert gpus["0"] == GpuSample(utilisation=0.93, memory_bytes=40 << 30, power_watts=655.12)
        assert gpus["1"] == GpuSample(memory_bytes=2 << 30)
        assert set(host.list().by_id()) == {"w1"}
        assert len(client.containers(all=True)) == 2
        host.remove_gpu_tellers()
        assert len(client.containers(all=True)) == 1
        host.stop("w1", grace_seconds=0.0)
        exited(host, "w1")


@pytest.fixture
def tls_bench(tls_daemon: DockerDaemon, tmp_path: Path) -> Iterator[DockerBench]:
    with bench_on(tls_daemon, tmp_path) as bench:
        yield bench


def test_a_daemon_is_reached_by_tls(
    tls_bench: DockerBench, address: str, certificates: Path
) -> None:
    endpoint = DaemonEndpoint(url=address, certificates=certificates)
    host = replace(tls_bench.host, endpoints=lambda: {"n1": endpoint})
    with contextlib.closing(host):
        runs_there(replace(tls_bench, host=host))
        host.stop("w1", grace_seconds=0.0)
        exited(host, "w1")
    for wrong in (None, certificates / "nothing"):
        stranger = DaemonEndpoint(url=address, certificates=wrong)
        unknown = replace(host, endpoints=lambda stranger=stranger: {"n1": stranger})  # type: ignore[misc]
        with pytest.raises(HostUnavailable):
            unknown.list()


def test_without_certificates_a_daemon_elsewhere_is_not_even_asked() -> None:
    """In plain text, whoever is on the way may do there as root whatever he likes."""
    connections = Connections(answer_seconds=5.0, tunnels=Tunnels(seconds=5.0))
    with socket.create_server(("127.0.0.1", 0)) as server:
        plain = DaemonEndpoint(url=f"tcp://127.0.0.1:{server.getsockname()[1]}")
        for ask in (connections.quick, connections.patient):
            with pytest.raises(HostUnavailable, match="set CONCERTINA_DOCKER_CERTS"):
                ask(plain)
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.fixture
def ssh_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that lets us in by a key, and an `ssh` that knows it as from its configuration."""
    sshd, ssh = shutil.which("sshd", path="/usr/sbin:/usr/bin"), shutil.which("ssh")
    if sshd is None or ssh is None:
        pytest.skip("needs openssh-server and openssh-client")
    Path("/run/sshd").mkdir(exist_ok=True)
    port = free_port()
    for name in ("host", "own"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name, cwd=tmp_path)
    (tmp_path / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nStrictModes no\n"
        f"AuthorizedKeysFile {tmp_path}/own.pub\nPidFile none\nUsePAM no\n"
    )
    host_key = (tmp_path / "host.pub").read_text()
    (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}")
    (tmp_path / "ssh_config").write_text(
        f"Host *\nIdentityFile {tmp_path}/own\nUserKnownHostsFile {tmp_path}/known_hosts\n"
    )
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "ssh"
    wrapper.write_text(f'#!/bin/sh\nexec {ssh} -F {tmp_path}/ssh_config "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent), prepend=":")
    server = subprocess.Popen((sshd, "-D", "-e", "-f", str(tmp_path / "sshd_config")))
    try:
        until(lambda: is_open(port))
        yield f"ssh://{getpass.getuser()}@127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def test_a_daemon_is_reached_by_ssh(
    docker_bench: DockerBench, docker_daemon: DockerDaemon, ssh_server: str
) -> None:
    path = docker_daemon.url.removeprefix("unix://")
    known = DaemonEndpoint(url=f"{ssh_server}{path}")
    unknown = DaemonEndpoint(url=f"ssh://nobody-there@127.0.0.1:{free_port()}")
    host = replace(docker_bench.host, endpoints=lambda: {"n1": known, "n2": unknown})
    with contextlib.closing(host):
        until(lambda: host.list().processes == ())
        (silent,) = host.list().silent_nodes.items()
        assert silent[0] == "n2"
        assert "refused" in silent[1]
        runs_there(replace(docker_bench, host=host))
        host.stop("w1", grace_seconds=0.0)
        exited(host, "w1")
