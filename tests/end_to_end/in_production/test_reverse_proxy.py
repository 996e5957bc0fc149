"""What docs/production puts before the api: TLS, cookies, addresses, streams."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import sync_playwright

from tests.client.command_line import CommandLine
from tests.end_to_end.browser import launch, sign_in
from tests.end_to_end.in_production import web_server
from tests.end_to_end.in_production.composed import SECRET, Composed
from tests.end_to_end.in_production.web_server import CADDY, NGINX, Site
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)  # the first to come make the images
ADMIN = "admin"
SESSION = "/api/v1/session"
SAYS_READY = "import time; print('ready', flush=True); time.sleep(3600)"
STRANGERS = (f"127.0.1.{number}" for number in range(1, 255))  # nobody slowed them down yet


SERVERS = [pytest.param(NGINX, marks=pytest.mark.thorough), CADDY]


@pytest.fixture(scope="module", params=SERVERS, ids=lambda server: server.name)
def site(composed: Composed, vision_token: str, request: pytest.FixtureRequest) -> Iterator[Site]:
    api = f"127.0.0.1:{composed.port}"
    with web_server.serving(composed.site, request.param, api=api):
        with composed.site.client(vision_token) as client:
            until(lambda: client.get(SESSION).status_code < 500, seconds=60, what="api answers")
        yield composed.site


@pytest.fixture
def browser(site: Site) -> Iterator[httpx.Client]:
    """Keeps cookies, as a browser does; nobody is logged in yet."""
    with site.client() as browser:
        yield browser


@pytest.fixture
def admin(browser: httpx.Client) -> httpx.Client:
    answer = browser.post(SESSION, json={"username": ADMIN, "password": SECRET})
    assert answer.status_code == 200, answer.text
    browser.headers["X-CSRFToken"] = browser.cookies["csrftoken"]
    return browser


@pytest.fixture
def job(composed: Composed, vision_token: str) -> Iterator[SubmittedJob]:
    """One that says something and then trains for as long as the test likes."""
    with composed.client(vision_token) as client:
        job = SubmittedJob.submit(
            client,
            {
                "name": "patient",
                "command": ["python", "-c", SAYS_READY],
                "elastic": {"min_workers": 1, "max_workers": 1, "mode": "fixed"},
                "batch": {"global_batch_size": {"base": 8, "min": 8, "max": 8}},
            },
        )
        yield job
        job.cancel()
        until(lambda: job.is_in("cancelled"), seconds=60, what="its name is free again")


@pytest.fixture
def command_line(site: Site, vision_token: str, tmp_path: Path) -> CommandLine:
    """Of somebody whose machine knows the site's certificate."""
    return CommandLine(
        environment={
            "CONCERTINA_URL": site.url,
            "CONCERTINA_TOKEN": vision_token,
            "XDG_CONFIG_HOME": str(tmp_path),
            "SSL_CERT_FILE": str(site.certificate),
        }
    )


def test_the_cookies_of_a_login_travel_over_tls_only(browser: httpx.Client) -> None:
    answer = browser.post(SESSION, json={"username": ADMIN, "password": SECRET})
    cookies = SimpleCookie[str]()
    for header in answer.headers.get_list("Set-Cookie"):
        cookies.load(header)
    session = next(cookie for name, cookie in cookies.items() if "session" in name)
    assert (session["secure"], session["httponly"], session["samesite"]) == (True, True, "Lax")
    token = cookies["csrftoken"]  # which the dashboard's script has to read
    assert (token["secure"], token["httponly"], token["samesite"]) == (True, "", "Lax")


def test_who_is_logged_in_changes_things_from_the_dashboards_own_pages_only(
    admin: httpx.Client, site: Site
) -> None:
    def allow(**headers: str) -> int:
        rule = {"pattern": f"registry.example.com/{uuid4().hex}", "team": None}
        return admin.post("/api/v1/image-rules", json=rule, headers=headers).status_code

    assert allow(Origin=site.url) == 201
    assert allow(Origin="https://evil.example.com") == 403
    assert allow(Origin=site.url.replace("https", "http")) == 403
    del admin.headers["X-CSRFToken"]
    assert allow(Origin=site.url) == 403


def test_a_request_counts_as_sent_over_tls_whatever_the_client_says(admin: httpx.Client) -> None:
    """Over TLS Django insists on a known origin; without, a request may lack one."""
    answer = admin.post("/api/v1/image-rules", json={}, headers={"X-Forwarded-Proto": "http"})
    assert (answer.status_code, "Referer" in answer.json()["message"]) == (403, True)


def test_a_person_signs_in_to_the_dashboard_and_sees_a_log_come(
    site: Site, job: SubmittedJob
) -> None:
    until(lambda: "ready" in job.log_lines(), seconds=180, what="the job says something")
    # Its network is there: a browser breaks off when the machine gets another address.
    with sync_playwright() as playwright, launch(playwright) as browser:
        page = browser.new_page(base_url=site.url, ignore_https_errors=True)
        page.set_default_timeout(60_000)
        page.goto(f"/jobs/{job.job_id}")
        sign_in(page, ADMIN, SECRET)
        page.get_by_role("log").get_by_text("ready", exact=True).wait_for()


def test_plain_http_leads_to_https_whatever_the_client_says(site: Site) -> None:
    for headers in ({}, {"X-Forwarded-Proto": "https"}):
        answer = httpx.get(f"{site.plain_url}/api/v1/jobs?team=vision", headers=headers, timeout=60)
        assert answer.is_redirect
        assert answer.headers["Location"] == "https://localhost/api/v1/jobs?team=vision"


def test_browsers_are_told_to_come_back_over_tls(browser: httpx.Client) -> None:
    for path in ("/", "/api/v1/jobs", "/static/nothing"):
        headers = browser.get(path).headers
        assert headers.get_list("Strict-Transport-Security") == ["max-age=31536000"], path


def test_a_browser_gets_one_connection_for_all_its_streams(site: Site) -> None:
    trust = site.trust()
    trust.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(("127.0.0.1", site.https_port), timeout=20) as plain,
        trust.wrap_socket(plain, server_hostname="localhost") as secure,
    ):
        assert secure.selected_alpn_protocol() == "h2"


def test_guesses_are_counted_by_the_address_that_they_really_come_from(site: Site) -> None:
    with site.client(address=next(STRANGERS)) as guesser:
        tried = 0
        while (answer := _guess(guesser, sent_by=f"10.0.0.{tried}")).status_code == 401:
            tried += 1
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_requests")
    # One more is allowed a minute, which a busy machine may take for ten.
    assert 10 <= tried < 20
    with site.client(address=next(STRANGERS)) as another:
        assert _guess(another, sent_by="10.0.0.1").status_code == 401


def test_nothing_is_said_under_another_name(site: Site, vision_token: str) -> None:
    with site.client(vision_token) as client:
        jobs = "/api/v1/jobs"
        assert "items" in client.get(jobs).text
        assert "items" not in client.get(jobs, headers={"Host": "evil.example.com"}).text


def test_the_command_line_follows_a_log_line_by_line_to_its_end(
    command_line: CommandLine, job: SubmittedJob
) -> None:
    with command_line.running("logs", "--follow", job.job_id) as (running, end):
        running.wait_until_said("ready")
        assert running.process.poll() is None
        assert command_line("cancel", job.job_id).exit_code == 0
        assert end().exit_code == 0


def test_who_logs_in_without_tls_is_told_the_address_with_it(
    command_line: CommandLine, site: Site
) -> None:
    ended = command_line("login", site.plain_url)
    assert ended.exit_code == 6
    assert ended.err == f"Error: {site.plain_url} is at https://localhost now. Use that address.\n"


def test_who_does_not_know_the_certificate_is_told_at_once(
    command_line: CommandLine, site: Site
) -> None:
    stranger = CommandLine(environment={**command_line.environment, "SSL_CERT_FILE": ""})
    ended = stranger("login", site.url)
    assert ended.exit_code == 6
    assert "self-signed" in ended.err
    assert "SSL_CERT_FILE" in ended.err
    assert "Trying again" not in ended.err


@pytest.mark.parametrize("path", ["/internal/v1/jobs/abc/sync", "/%69nternal/v1/jobs/abc/sync"])
def test_where_coordinators_report_is_nothing_for_who_comes_from_outside(
    site: Site, vision_token: str, path: str
) -> None:
    with site.client(vision_token) as client:
        answer = client.post(path, json={})
    assert answer.status_code == 404
    assert "not_authenticated" not in answer.text


def _guess(guesser: httpx.Client, *, sent_by: str) -> httpx.Response:
    """Try a password once it is looked at: on a busy machine, hashes of strangers have to wait."""
    wrong = {"username": "nobody", "password": "wrong"}
    while True:
        answer = guesser.post(SESSION, json=wrong, headers={"X-Forwarded-For": sent_by})
        if answer.status_code == 401 or "attempts to sign in under" in answer.json()["message"]:
            return answer
        assert answer.status_code in {429, 503}, answer.text
        time.sleep(float(answer.headers["Retry-After"]))
