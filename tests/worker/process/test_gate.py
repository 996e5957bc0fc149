"""Does a gate lead to those who are listed, to nobody else, and say so?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import psutil
import pytest

from concertina_worker.coordinator.gate import keeping
from concertina_worker.coordinator.gate.reachable import Reachable
from concertina_worker.coordinator.gate.tunnels import Gate
from concertina_worker.protocol import GATE_PORT, Env

HOST = "127.0.0.1"
LISTED = Reachable.of("pypi.org:443,*.Example.com:8443,10.2.0.7:9000,[2001:db8::1]:443,")


class Everybody(Reachable):
    """The tests' own machine may be called, as no other gate does."""

    def among(self, addresses: object, host: str, port: int) -> list[str]:  # noqa: ARG002
        return [HOST]


@pytest.mark.parametrize(
    ("host", "port", "is_listed"),
    [
        ("pypi.org", 443, True),
        ("PyPI.org.", 443, True),
        ("pypi.org", 80, False),
        ("xpypi.org", 443, False),
        ("a.pypi.org", 443, False),
        ("a.example.com", 8443, True),
        ("b.a.example.com", 8443, True),
        ("example.com", 8443, False),
        ("badexample.com", 8443, False),
        ("10.2.0.7", 9000, True),
        ("::ffff:10.2.0.7", 9000, True),
        ("10.2.0.8", 9000, False),
        ("[2001:db8:0::1]", 443, True),
    ],
)
def test_a_host_is_listed_by_its_name_a_pattern_or_its_address(
    host: str, port: int, *, is_listed: bool
) -> None:
    assert LISTED.lists(host, port) is is_listed


@pytest.mark.parametrize(
    ("host", "port", "addresses", "called"),
    [
        ("pypi.org", 443, ["151.101.0.223", "10.0.0.1"], ["151.101.0.223", "10.0.0.1"]),
        ("pypi.org", 443, ["127.0.0.1", "::1", "169.254.169.254", "0.0.0.0"], []),  # noqa: S104
        ("pypi.org", 443, ["::ffff:127.0.0.1", "fe80::1", "224.0.0.1", "::"], []),
        ("a.example.com", 8443, ["10.0.0.1", "8.8.8.8", "8.8.8.8"], ["8.8.8.8"]),
    ],
)
def test_a_name_leads_to_no_address_that_is_never_meant(
    host: str, port: int, addresses: list[str], called: list[str]
) -> None:
    assert LISTED.among(addresses, host, port) == called


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]


def through(talk: Talk, *, reachable: str = "there.example.org:{port}", most: int = 2) -> None:
    """Talk to a gate, behind which somebody repeats all that is said until its end."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read())
        writer.close()
        await writer.wait_closed()

    async def run() -> None:
        async with await asyncio.start_server(repeat, HOST, 0) as there:
            port = there.sockets[0].getsockname()[1]
            gate = Gate(reachable=Everybody.of(reachable.format(port=port)), most=most)
            async with await gate.listen(HOST, 0) as server, asyncio.timeout(60):
                reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
                await talk(reader, writer, port)
                writer.close()
                with contextlib.suppress(ConnectionError):
                    await writer.wait_closed()
                both_ends = asyncio.all_tasks() - {asyncio.current_task()}
                await asyncio.gather(*both_ends)  # or sockets would be left to the collector

    asyncio.run(run())


def test_bytes_go_there_and_back_until_both_ends_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    async def looked_up(_loop: object, host: str, *_: object, **__: object) -> list[object]:
        asked.append(host)
        return [(0, 0, 0, "", (HOST, 0))]

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", looked_up)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        writer.write(f"CONNECT there.example.org:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        sent = b"x" * 300_000
        writer.write(sent)
        writer.write_eof()
        assert await reader.read() == sent

    through(talk)
    assert asked == ["there.example.org"]


@pytest.mark.parametrize(
    ("head", "status", "said"),
    [
        ("CONNECT other.example.org:443 HTTP/1.1", 403, "is not listed for this team: there."),
        ("CONNECT 127.0.0.1:{port} HTTP/1.1", 403, "Ask an admin."),
        ("GET http://there.example.org/ HTTP/1.1", 405, "write https://"),
        ("CONNECT there.example.org HTTP/1.1", 405, "Only CONNECT"),
        ("CONNECT there.example.org:99999 HTTP/1.1", 405, "Only CONNECT"),
        ("nonsense", 405, "Only CONNECT"),
    ],
)
def test_what_is_refused_is_told_why(head: str, status: int, said: str) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        writer.write(f"{head.format(port=port)}\r\n\r\n".encode())
        answer = (await reader.read()).decode()
        assert answer.startswith(f"HTTP/1.1 {status} ")
        assert said in answer

    through(talk)


def test_too_many_at_once_and_heads_without_an_end_are_refused() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        writer.write(f"CONNECT there.example.org:{port} HTTP/1.1\r\n\r\n".encode())
        assert (await reader.read()).startswith(b"HTTP/1.1 503 ")

    through(talk, most=0)

    async def talk_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: int) -> None:
        writer.write(b"CONNECT " + b"a" * 100_000)
        with contextlib.suppress(ConnectionError):  # what was not read is told so
            assert await reader.read() == b""

    through(talk_on)


def test_a_coordinator_keeps_its_gate_and_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process, which knows nothing of tokens, and comes again if it is lost."""
    monkeypatch.setenv(Env.REACHABLE, "pypi.org:443")
    monkeypatch.setenv(Env.TOKEN, "secret")
    monkeypatch.setattr(keeping, "_AGAIN_SECONDS", 0.0)
    host = "127.86.0.1"  # its port is always the same
    gates: list[psutil.Process] = []

    async def listening() -> psutil.Process:
        """The gate that listens now, another than those before."""
        while True:
            others = (one for one in psutil.Process().children() if one not in gates)
            found = [one for one in others if host in one.cmdline()]
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(host, GATE_PORT)
                writer.close()
                await writer.wait_closed()
                if found:
                    return found[0]
            await asyncio.sleep(0.02)

    async def run() -> None:
        kept = asyncio.create_task(keeping.keep(host))
        async with asyncio.timeout(90):
            gates.append(await listening())
            assert Env.TOKEN not in gates[0].environ()
            gates[0].kill()
            gates.append(await listening())
            kept.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await kept
        _, left = psutil.wait_procs(gates, timeout=90)
        assert left == []

    asyncio.run(run())
