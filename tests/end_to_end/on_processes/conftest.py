"""The stack that one command starts, and a browser to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack.stack.stack import Options
from playwright.sync_api import Browser, Page, StorageState, expect, sync_playwright

from tests.end_to_end.browser import PATIENCE_MILLISECONDS, launch, open_context, sign_in
from tests.end_to_end.running_stack import RunningStack, running
from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, RunningProvider
from tests.identity_provider import running as running_provider
from tests.tracing.receiver import OtlpReceiver, receiving


@pytest.fixture
def tmp_path(open_folder: Path) -> Path:
    """Jobs read and write there, as users of their own."""
    return open_folder


@pytest.fixture(scope="package")
def provider() -> Iterator[RunningProvider]:
    """An identity provider, by which people may sign in to the stack."""
    with running_provider() as ready:
        yield ready


@pytest.fixture(scope="package")
def collector() -> Iterator[OtlpReceiver]:
    """Where the stack sends its traces."""
    with receiving() as ready:
        yield ready


@pytest.fixture(scope="package")
def stack(provider: RunningProvider, collector: OtlpReceiver) -> Iterator[RunningStack]:
    told = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=of-the-collector",
        "CONCERTINA_DATA_NETWORKS": "127.0.0.1",
        "CONCERTINA_OIDC_ISSUER": provider.issuer,
        "CONCERTINA_OIDC_CLIENT_ID": CLIENT_ID,
        "CONCERTINA_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "CONCERTINA_OIDC_NAME": "Example Lab",
        "CONCERTINA_OIDC_GROUPS": "ml=vision:member",
        "CONCERTINA_INVITED_MAKE_ACCOUNTS": "yes",
        "CONCERTINA_SHELL_TEAMS": "vision",
    }
    with running(Options(slots=4, tick_seconds=1.0), told) as ready:
        yield ready


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def signed_in(stack: RunningStack, browser: Browser) -> StorageState:
    """The cookies of an administrator."""
    context = open_context(browser, stack.url)
    page = context.new_page()
    page.goto("/login")
    sign_in(page, stack.admin_username, stack.admin_password)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def page(stack: RunningStack, browser: Browser, signed_in: StorageState) -> Iterator[Page]:
    """A page of a person who is signed in; a script error on it fails the test."""
    context = open_context(browser, stack.url, seen_by=signed_in)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.unroute_all(behavior="ignoreErrors")  # answers that a test changes may be on their way
    context.close()
    assert errors == []
