"""Does the dashboard show what the stack does? Seen in a real browser, as a person would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from control_plane.api.live.reads import SECONDS_OF
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.end_to_end.browser import (
    NARROW,
    expect_no_sideways_scroll,
    keep_screenshot,
    open_context,
    sign_in,
)
from tests.end_to_end.live_page import events_of, wait_for_more, wait_for_reads
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.waiting import REGISTRATION, job_of, until

pytestmark = pytest.mark.timeout(600)

SCRIPT = Path(__file__).parents[1] / "scripts" / "chatty_regression.py"
NONE = "\u2013"
MOST_AT_FIRST = 130_000  # bytes of scripts, before a page shows anything
WORTH_COMPRESSING = 1024  # bytes
OF_THE_OVERVIEW = {
    *("/api/v1/cluster/summary", "/api/v1/cluster/utilisation", "/api/v1/health"),
    *("/api/v1/jobs", "/api/v1/jobs:sparklines", "/api/v1/pools", "/api/v1/teams"),
}
DRAWN = "[...document.querySelectorAll('main svg path')].map(path => getComputedStyle(path).stroke)"
GRID = "rgb(34, 38, 46)"  # --grid of tokens.css, dark
LIGHT = "rgb(245, 245, 243)"  # --page of tokens.css
CHART = "main [role=img] svg path"  # drawn, unlike a row's sparkline, by code that comes later


@pytest.fixture(scope="module")
def training(stack: RunningStack) -> Iterator[dict[str, Any]]:
    """A job of team vision that has grown and trains while the tests look at it."""
    elastic = {"min_workers": 1, "max_workers": 3}
    yield from _running(stack, "vision", "watched", elastic, workers=3)


@pytest.fixture(scope="module")
def waiting(stack: RunningStack, training: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A job of team language that needs the whole pool, which `training` keeps from it."""
    elastic = {"min_workers": 4, "max_workers": 4}
    yield from _running(stack, "language", "patient", elastic, workers=0)


def _running(
    stack: RunningStack, team: str, name: str, elastic: dict[str, int], *, workers: int
) -> Iterator[dict[str, Any]]:
    """A job with so many workers, cancelled in the end, when its GPUs are free again."""
    with stack.client(team) as client:
        answer = client.post(
            "/api/v1/jobs",
            json={
                "name": name,
                "command": ["python", str(SCRIPT)],
                "elastic": {**elastic, "registration_timeout": REGISTRATION},
                "batch": {"global_batch_size": {"base": 16, "min": 16, "max": 64}},
            },
        )
        assert answer.status_code == 201, answer.text
        job: dict[str, Any] = answer.json()
        until(lambda: job_of(client, job["id"])["workers"] == workers, what=name)
        try:
            yield job
        finally:
            client.post(f"/api/v1/jobs/{job['id']}/cancel", json={})
            until(
                lambda: job_of(client, job["id"])["state"] == "cancelled",
                what=f"{name} is cancelled",
            )


def test_a_visitor_signs_in_and_comes_to_the_page_they_wanted(
    stack: RunningStack, browser: Browser, training: dict[str, Any]
) -> None:
    context = open_context(browser, stack.url)
    page = context.new_page()
    page.goto(f"/jobs/{training['id']}")
    expect(page.get_by_label("User name")).to_be_focused()
    page.get_by_label("User name").fill(stack.admin_username)
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).not_to_be_empty()

    sign_in(page, stack.admin_username, stack.admin_password)
    expect(page.get_by_role("heading", name=training["name"])).to_be_visible()
    other = context.new_page()
    other.goto("/notifications")  # which asks for nothing more
    expect(other.get_by_role("button", name="Sign out")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    for one in (page, other):
        expect(one.get_by_role("heading", name="Sign in")).to_be_visible()
    context.close()


def test_the_overview_shows_who_uses_what(page: Page, training: dict[str, Any]) -> None:
    page.goto("/")
    figures = page.get_by_role("region", name="Headline figures")
    in_use = figures.get_by_role("group", name="GPUs in use")
    expect(in_use).to_contain_text("/ 4")
    expect(in_use.get_by_role("img", name="3 of 4 in use")).to_be_visible()

    vision = page.get_by_role("listitem", name="Team vision")
    for name, gpus in {"Guaranteed": "2", "Allocated": "3", "Borrowed": "1"}.items():
        term = vision.get_by_text(name, exact=True)
        expect(term.locator("xpath=following-sibling::dd")).to_have_text(gpus)
    expect(vision).to_contain_text("Fair share")

    chart = page.get_by_role("img", name=re.compile(r"GPUs in use by team, of 4: .*vision 3"))
    expect(chart.locator("svg path").first).to_be_attached()

    job = page.get_by_role("list", name="Running jobs").get_by_role("listitem")
    expect(job).to_contain_text(training["name"])
    expect(job.get_by_role("img", name="3 of at most 3 workers")).to_be_visible()
    expect(job.get_by_role("progressbar")).to_have_attribute("aria-valuenow", re.compile(r"\d+"))
    keep_screenshot(page, "overview")


def test_an_open_overview_is_sent_what_changes_and_asks_for_nothing(
    page: Page, training: dict[str, Any]
) -> None:
    """It would be asked for thirty times a minute by each of ten parts of the page."""
    sent, asked = events_of(page), list[str]()
    page.goto("/")
    job = page.get_by_role("list", name="Running jobs").get_by_role("listitem")
    expect(job).to_contain_text(training["name"])
    expect(job.get_by_role("img", name="Course of loss")).to_be_visible()
    wait_for_reads(page, sent, OF_THE_OVERVIEW)
    page.on("request", lambda request: asked.append(request.url))
    before = job.inner_text()
    wait_for_more(page, sent)
    until(lambda: job.inner_text() != before, what="the job's figures move")
    assert [url for url in asked if "/api/v1/live?" not in url] == []  # which comes anew at times


def test_an_open_page_of_a_job_asks_for_nothing_that_it_is_sent(
    page: Page, training: dict[str, Any]
) -> None:
    sent, asked = events_of(page), list[str]()
    page.goto(f"/jobs/{training['id']}")
    parts = {path.format(job_id=training["id"]) for path in SECONDS_OF if "{" in path}
    wait_for_reads(page, sent, parts)
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    wait_for_more(page, sent)
    assert parts.isdisjoint(asked)


def test_its_files_come_compressed_and_are_asked_for_once(stack: RunningStack) -> None:
    at_first, whole, compressed = 0, 0, 0
    with stack.client_of(None) as visitor:
        scripts = re.findall(r'="(/assets/[^"]+)"', visitor.get("/").text)
        assert scripts
        for path in scripts:
            plain = visitor.get(path, headers={"Accept-Encoding": "identity"})
            for encoding in ("gzip", "br"):
                with visitor.stream("GET", path, headers={"Accept-Encoding": encoding}) as answer:
                    sent = len(b"".join(answer.iter_raw()))
                assert "immutable" in answer.headers["Cache-Control"]
                if len(plain.content) >= WORTH_COMPRESSING:
                    assert answer.headers["Content-Encoding"] == encoding
                    whole, compressed = whole + len(plain.content), compressed + sent
                at_first += sent if encoding == "gzip" and path.endswith(".js") else 0
    assert compressed < whole / 2
    assert 0 < at_first <= MOST_AT_FIRST


def test_a_job_opened_from_far_down_begins_at_its_top(page: Page, training: dict[str, Any]) -> None:
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto("/")
    page.get_by_role("link", name=training["name"]).scroll_into_view_if_needed()
    page.wait_for_function("scrollY > 0")
    page.get_by_role("link", name=training["name"]).click()
    expect(page.get_by_role("heading", name=training["name"])).to_be_visible()
    page.wait_for_function("scrollY === 0")
    page.go_back()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_the_queue_says_why_a_job_waits(
    stack: RunningStack, page: Page, waiting: dict[str, Any]
) -> None:
    page.goto("/")
    jobs = page.get_by_role("list", name="Queue").get_by_role("listitem")
    job = jobs.filter(has_text=waiting["name"])
    with stack.client("language") as client:
        place = job_of(client, waiting["id"])["position"]  # jobs of other tests may wait, too
    expect(job.get_by_title("Place in the queue")).to_have_text(str(place))

    job.get_by_role("link", name=waiting["name"]).click()
    why = page.get_by_role("region", name="Why")
    expect(why).to_contain_text("Position in the queue")
    expect(why).to_contain_text(re.compile(r"\d+ .*GPU"))
    expect(page.get_by_role("group", name="Asks for")).to_contain_text("worker")
    for empty in ("Timeline", "Loss", "Workers", "Logs"):
        expect(page.get_by_role("region", name=empty)).to_have_count(0)


def test_the_job_page_tells_what_changed_and_why(page: Page, training: dict[str, Any]) -> None:
    page.goto("/")
    page.get_by_role("link", name=training["name"]).click()
    expect(page.get_by_role("heading", name=training["name"])).to_be_visible()

    changes = page.get_by_role("table", name="Changes, newest first").locator("tbody")

    def generations() -> list[dict[str, Any]]:
        """As who is logged in: whoever may see less of other teams' jobs is told less of them."""
        answer = page.request.get(f"/api/v1/jobs/{training['id']}/generations")
        items: list[dict[str, Any]] = answer.json()["items"]
        return items[::-1]

    until(
        lambda: generations()[0]["message"] in changes.first.inner_text(),
        what="the newest change stands first",
    )
    # A generation never changes; but another may have begun since, with another batch, say.
    grown = next(one for one in generations() if one["transfer_seconds"])
    row = changes.filter(has_text=grown["message"]).first
    expect(row).to_contain_text("3 workers")
    for cost in ("stall", "transfer"):
        told = seconds_in(row.locator(f"[data-label='{cost}']").inner_text())
        assert told == pytest.approx(grown[f"{cost}_seconds"], rel=0.05, abs=0.005)
    assert grown["lost_steps"] == 0
    expect(row.locator("[data-label='lost work']")).to_have_text(NONE)
    rescales = page.get_by_role("group", name="Rescales")
    expect(rescales).to_contain_text(re.compile(r"s standing still in all \([\d.]+ %\)"))

    for name in ("Timeline", "Loss", "Throughput"):
        region = page.get_by_role("region", name=name)
        expect(region.locator("svg path").first).to_be_attached()
    why = page.get_by_role("region", name="Why")
    expect(why.get_by_role("row", name=re.compile(r"\(chosen\)"))).to_be_visible()
    workers = page.get_by_role("region", name="Workers", exact=True)
    expect(workers.get_by_text("training", exact=True)).to_have_count(3)
    for pace in (r"^[\d.]+ m?s$", r"^\d+ %$"):
        expect(workers.get_by_role("cell").filter(has_text=re.compile(pace))).to_have_count(3)
    keep_screenshot(page, "job")


def seconds_in(told: str) -> float:
    """Of a cost as the page writes it: `3.8 ms`, `0.25 s`, or a dash."""
    if told == NONE:
        return 0.0
    number, unit = told.split()
    return float(number) * {"ms": 1e-3, "s": 1.0}[unit]


def test_pointing_at_the_timeline_shows_the_reason(page: Page, training: dict[str, Any]) -> None:
    page.goto(f"/jobs/{training['id']}")
    timeline = page.get_by_role("img", name=re.compile("^Workers, global batch and stalls"))
    expect(timeline.locator("svg path").first).to_be_attached()

    def shows_the_reason() -> bool:
        """Each time anew: what else the page has yet to show may move it from under the mouse."""
        box = timeline.bounding_box()
        assert box is not None
        timeline.hover(position={"x": box["width"] / 2, "y": 80})
        told = timeline.text_content() or ""
        shown = re.search(r"Generation (\d+) · from", told)
        return shown is not None and messages()[int(shown[1])] in told

    def messages() -> dict[int, str]:
        answer = page.request.get(f"/api/v1/jobs/{training['id']}/generations")
        return {one["number"]: one["message"] for one in answer.json()["items"]}

    until(shows_the_reason, what="it tells of the generation that is pointed at")


def test_the_log_follows_and_can_be_filtered(page: Page, training: dict[str, Any]) -> None:
    page.goto(f"/jobs/{training['id']}")
    lines = page.get_by_role("log").get_by_role("paragraph")
    expect(lines.filter(has_text=re.compile("loss")).first).to_be_visible()
    texts = lines.all_inner_texts()
    assert len(texts) == len(set(texts))
    newest = texts[-1]
    until(lambda: lines.last.inner_text() != newest, what="a new line")

    with page.expect_download() as started:
        page.get_by_role("link", name="Whole log").click()
    saved = started.value
    assert saved.suggested_filename == "watched.log"
    assert texts[0].rpartition("\n")[2] in saved.path().read_text()

    page.get_by_label("Filter log lines").fill("no line says this")
    expect(page.get_by_text("No line matches")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Filter log lines")).to_have_value("no line says this")


def test_the_range_that_was_chosen_stands_in_the_address(
    page: Page, training: dict[str, Any]
) -> None:
    page.goto("/")
    page.get_by_role("group", name="Range").get_by_text("6 h", exact=True).click()
    page.wait_for_url("**/?minutes=360")
    page.reload()
    expect(page.get_by_role("radio", name="6 h")).to_be_checked()


def test_curves_are_drawn_over_what_one_chooses(page: Page, training: dict[str, Any]) -> None:
    page.goto(f"/jobs/{training['id']}")
    page.get_by_role("group", name="Over").get_by_text("Step", exact=True).click()
    page.get_by_role("group", name="Scale").get_by_text("Log", exact=True).click()
    page.get_by_label("Pace").select_option("Learning rate")
    page.reload()
    for name in ("Loss", "Learning rate"):
        curve = page.get_by_role("img", name=f"{name} of {training['name']} over step")
        expect(curve.locator("svg path").first).to_be_attached()
    for wish in ("over=step", "scale=log", "pace=Learning+rate"):
        assert wish in page.url


def test_a_job_is_paused_and_resumed_after_a_question(
    stack: RunningStack, page: Page, waiting: dict[str, Any]
) -> None:
    page.goto(f"/jobs/{waiting['id']}")
    page.get_by_role("button", name="Pause").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Keep as it is").click()
    expect(dialog).to_be_hidden()

    page.get_by_role("button", name="Pause").click()
    dialog.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Resume").click()
    with stack.client("language") as client:
        assert job_of(client, waiting["id"])["state"] == "paused"
    dialog.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_nothing_scrolls_sideways_on_a_phone(
    page: Page, training: dict[str, Any], waiting: dict[str, Any]
) -> None:
    page.set_viewport_size(NARROW)
    addresses = {"overview": "/", "job": f"/jobs/{training['id']}"}
    for name, address in addresses.items():
        page.goto(address)
        expect(page.locator(CHART).first).to_be_attached()
        expect_no_sideways_scroll(page)
        keep_screenshot(page, f"{name}-narrow")


def test_a_phone_shows_first_what_people_come_for(page: Page, training: dict[str, Any]) -> None:
    def top(locator: Locator) -> float:
        box = locator.bounding_box()
        assert box is not None
        return box["y"]

    page.set_viewport_size(NARROW)
    page.goto("/")
    running = page.get_by_role("region", name="Running")
    expect(running.get_by_role("link", name=training["name"])).to_be_visible()
    assert top(running) < top(page.get_by_role("region", name="Teams"))
    assert top(running) < top(page.get_by_role("group", name="Waiting"))
    running.get_by_role("link", name=training["name"]).click()
    why = page.get_by_role("region", name="Why")
    expect(why).to_be_visible()
    assert top(why) < top(page.get_by_role("region", name="Figures"))


def test_charts_come_though_their_code_had_to_be_asked_for_again(
    page: Page, training: dict[str, Any]
) -> None:
    """As on a machine whose network changes while it loads, for example one that makes one."""
    refused: list[Route] = []

    def refuse_twice(route: Route) -> None:
        if len(refused) < 2:
            refused.append(route)
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route("**/assets/Canvas-*.js", refuse_twice)
    page.goto("/")
    expect(page.locator(CHART).first).to_be_attached()
    assert len(refused) == 2


def test_the_theme_is_the_system_s_until_one_is_chosen(
    page: Page, training: dict[str, Any]
) -> None:
    """A colour that is on its way to another one is waited for."""
    ground = expect(page.locator("html"))
    page.emulate_media(color_scheme="light")
    page.goto("/")
    ground.to_have_css("background-color", LIGHT)
    page.emulate_media(color_scheme="dark")
    ground.not_to_have_css("background-color", LIGHT)
    expect(page.locator(CHART).first).to_be_attached()
    keep_screenshot(page, "overview-dark")
    until(lambda: GRID in page.evaluate(DRAWN), what="charts are drawn in colours of the theme")

    page.get_by_role("button", name=re.compile("^Theme: as the system")).click()
    ground.to_have_css("background-color", LIGHT)
    page.reload()
    expect(page.get_by_role("button", name=re.compile("^Theme: light"))).to_be_visible()
    ground.to_have_css("background-color", LIGHT)


def test_it_says_that_the_service_is_away_and_recovers(page: Page, stack: RunningStack) -> None:
    """A stream that is open goes on beyond what Playwright aborts, so there is none here."""
    page.route("**/api/v1/live?*", lambda route: route.abort())
    page.goto("/")
    expect(page.get_by_role("listitem", name="Team vision")).to_be_visible()
    page.route("**/api/**", lambda route: route.abort())
    banner = page.get_by_text("Reconnecting to the service")
    expect(banner).to_be_visible()
    expect(page.get_by_role("listitem", name="Team vision")).to_be_visible()

    page.unroute("**/api/**")
    expect(banner).to_be_hidden()


def test_who_may_not_change_a_job_is_offered_no_button_that_would_be_refused(
    page: Page, training: dict[str, Any]
) -> None:
    def answer_a_viewer(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(
            response=answer, json={**answer.json(), "may_change": False, "may_rerun": False}
        )

    steering = page.get_by_role("button", name=re.compile("^(Change|Pause|Cancel job|Pin)$"))
    page.goto(f"/jobs/{training['id']}")
    expect(steering).to_have_count(4)
    page.route("**/api/v1/live?*", lambda route: route.abort())  # which would tell the truth
    page.route(f"**/api/v1/jobs/{training['id']}", answer_a_viewer)
    page.reload()
    expect(page.get_by_text("members and leads of team vision change it")).to_be_visible()
    expect(steering).to_have_count(0)
