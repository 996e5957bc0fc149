"""Does the map of the cluster say who holds which GPU, and whom a drain would hit?"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page, Route, expect

from tests.end_to_end.accessibility import violations, violations_in_both_themes
from tests.end_to_end.browser import NARROW, WIDE, expect_no_sideways_scroll, keep_screenshot
from tests.end_to_end.live_page import events_of, wait_for_reads
from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import until

pytestmark = pytest.mark.timeout(600)

SENT = {"/api/v1/teams", "/api/v1/pools", "/api/v1/cluster/gpus"}
STRETCH = 20_000  # milliseconds
NODES: Final = 125
GPUS: Final = 8  # of a node
GIB: Final = 2**30
MACHINES: Final[dict[str, Any]] = {
    "nodes_min": 1,
    "nodes_max": 8,
    "gpus_per_node": 8,
    "worth_a_node": None,
    "patience_seconds": 60,
    "idle_minutes": 10,
    "nodes_per_hour": 12,
    "needed_since": "2026-11-29T11:58:00Z",
    "asked_since": "2026-11-29T12:00:00Z",
    "note": "",
    "events": [
        {
            "at": "2026-11-29T12:00:00Z",
            "kind": "asked",
            "node": "",
            "reason": "2 waiting jobs would start on one more node",
            "numbers": {"startable_jobs": 2.0},
            "said": "one more machine was asked for: 2 waiting jobs would start on one more node.",
        }
    ],
}


@pytest.fixture
def held(stack: RunningStack) -> Iterator[str]:
    """The node on which a job holds a GPU; it takes work again afterwards."""
    with stack.client("vision") as client:
        elastic = {"min_workers": 1, "max_workers": 1}
        command = ["sleep", "600"]
        spec = {"name": "on-the-map", "command": command, "elastic": elastic, "priority": 100}
        job = SubmittedJob.submit(client, spec)

        def node() -> str | None:
            (pool,) = client.get("/api/v1/pools").json()["items"]
            holding = (
                one["name"]
                for one in pool["nodes"]
                if any(claim["job_id"] == job.job_id for claim in one["claims"])
            )
            return next(holding, None)

        name = until(node, what="the job holds a GPU")
        yield name
        stack.put_back_in_service(name)
        job.cancel()


def test_a_node_says_who_is_there_and_is_taken_out_of_service_knowing_it(
    page: Page, held: str
) -> None:
    page.goto("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Cluster").click()
    tile = page.get_by_role("button", name=re.compile(f"^{held} takes work,.*on-the-map on 1 GPU"))
    tile.click()
    card = page.get_by_role("region", name=f"Node {held}")
    expect(card.get_by_role("link", name="on-the-map")).to_be_visible()
    keep_screenshot(page, "cluster")

    card.get_by_role("button", name=f"Drain: {held}").click()
    dialog = page.get_by_role("dialog")
    ours = dialog.get_by_role("listitem").filter(has_text="on-the-map")
    expect(ours).to_contain_text("1 worker here: pauses after a checkpoint until there is room.")
    expect(dialog).to_contain_text("No other node of the pool has a free GPU.")
    assert violations(page) == []
    keep_screenshot(page, "cluster-drain")
    dialog.get_by_role("button", name="Keep as it is").click()

    card.get_by_role("button", name=f"Cordon: {held}").click()
    expect(ours).to_contain_text("may stay")
    dialog.get_by_role("button", name="Cordon").click()
    expect(dialog).to_be_hidden()
    expect(card).to_contain_text("Cordoned: it takes no new work")
    expect(card).to_be_focused()  # for the button is gone that was pressed
    expect(page.get_by_role("group", name="Free")).to_contain_text("0 GPUs")
    address = page.url
    page.reload()
    card.get_by_role("button", name=f"Put back in service: {held}").click()
    dialog.get_by_role("button", name="Put back in service").click()
    expect(card).to_contain_text("Takes work of pool default.")
    assert f"node={held}" in address


def test_it_is_sent_what_changes_and_asks_for_nothing(page: Page) -> None:
    sent, asked = events_of(page), list[str]()
    page.clock.install()
    page.goto("/cluster")
    expect(page.get_by_role("list", name="Nodes").get_by_role("button")).to_have_count(1)
    wait_for_reads(page, sent, SENT)
    page.on("request", lambda request: asked.append(request.url))

    def asks_for_nothing() -> bool:
        """Its clock is put forward; what it is not sent, it would ask for every few seconds."""
        asked.clear()
        page.clock.run_for(STRETCH)
        page.wait_for_timeout(50)
        return all("/api/v1/live?" in url for url in asked)  # which comes anew at times

    until(asks_for_nothing, what="a stretch in which it asks for nothing")


def test_what_to_know_of_a_pool_that_follows_a_cluster_is_told_where_people_look(
    page: Page,
) -> None:
    note = "Teams are guaranteed 16 GPUs, and 8 are there now."

    def answer_pools(route: Route) -> None:
        answer = route.fetch()
        (pool,) = answer.json()["items"]
        told = {**pool, "following_note": note, "gpus_missing": 8, "machines": MACHINES}
        route.fulfill(response=answer, json={"items": [told]})

    page.route("**/api/v1/live?*", lambda route: route.abort())
    page.route("**/api/v1/pools", answer_pools)
    for address in ("/", "/cluster", "/teams/vision"):
        page.goto(address)
        told = page.get_by_role("list", name="Pools that follow a cluster")
        asked = "Pool default: it has asked its cluster for one more machine."
        expect(told.get_by_role("listitem")).to_have_text([asked, f"Pool default: {note}"])
        expect_no_sideways_scroll(page)
    keep_screenshot(page, "pool-that-follows")
    shown = page.get_by_role("list", name="Pools that follow a cluster")
    assert violations_in_both_themes(page, shown) == []
    page.goto("/cluster")
    machines = page.get_by_role("region", name="Machines")
    expect(machines.get_by_role("listitem")).to_contain_text(MACHINES["events"][0]["said"])
    keep_screenshot(page, "machines-asked-for")
    assert violations_in_both_themes(page, machines) == []


def test_a_thousand_gpus_can_be_overlooked(page: Page) -> None:
    show_very_many(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto("/cluster")
    tiles = page.get_by_role("list", name="Nodes").get_by_role("button")
    expect(tiles).to_have_count(NODES)
    expect(page.get_by_role("group", name="In use")).to_contain_text("of 1,000 GPUs")
    assert violations_in_both_themes(page, tiles.first) == []
    keep_screenshot(page, "cluster-1000-light")
    page.emulate_media(color_scheme="dark")
    keep_screenshot(page, "cluster-1000-dark")

    tiles.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tiles.nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(tiles.nth(1)).not_to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(tiles.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Node gpu-002")).to_be_visible()
    keep_screenshot(page, "cluster-1000-chosen")
    page.get_by_text("Closed or slow").click()
    expect(tiles).to_have_count(4)

    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    text = str(page.evaluate("navigator.clipboard.readText()"))
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 4 * GPUS
    assert {row["node_state"] for row in rows} == {"silent", "draining", "cordoned", "takes work"}
    assert sum(row["is_slow"] == "true" for row in rows) == 1


def test_it_can_be_used_on_a_phone_and_without_seeing_cells(page: Page) -> None:
    show_very_many(page)
    page.set_viewport_size(NARROW)
    page.goto("/cluster")
    tiles = page.get_by_role("list", name="Nodes").get_by_role("button")
    expect(tiles).to_have_count(NODES)
    expect_no_sideways_scroll(page)
    tiles.nth(3).click()
    expect(page.get_by_role("region", name="Node gpu-004")).to_be_in_viewport()
    assert violations(page) == []
    keep_screenshot(page, "cluster-narrow")

    page.get_by_text("Table", exact=True).click()
    rows = page.get_by_role("table", name="Who holds which GPU").get_by_role("row")
    expect(rows).to_have_count(1 + 200)
    page.get_by_role("button", name="Show more of 1,000 GPUs").click()
    expect(rows).to_have_count(1 + 400)
    expect(rows.nth(1)).to_contain_text("80 GiB")
    expect_no_sideways_scroll(page)
    keep_screenshot(page, "cluster-table-narrow")
    page.set_viewport_size(WIDE)
    assert violations(page) == []


def show_very_many(page: Page) -> None:
    """Answer as a large cluster would, of which the page knows nothing else."""
    nodes = [_node(number) for number in range(1, NODES + 1)]

    def answer_pools(route: Route) -> None:
        answer = route.fetch()
        (pool,) = answer.json()["items"]
        route.fulfill(response=answer, json={"items": [{**pool, "nodes": nodes}]})

    uses = [
        {
            "node": node["name"],
            "gpu_index": claim["gpu_index"],
            "worker": claim["worker"],
            "utilisation": (number * 37 + claim["gpu_index"] * 11) % 100 / 100,
            "memory_bytes": (10 + (number * 13) % 65) * GIB,
            "memory_total_bytes": 80 * GIB,
            "is_slow": (number, claim["gpu_index"]) == (7, 1),
        }
        for number, node in enumerate(nodes, 1)
        for claim in node["claims"]
        if claim["job_id"]
    ]
    page.route("**/api/v1/live?*", lambda route: route.abort())
    page.route("**/api/v1/pools", answer_pools)
    page.route("**/api/v1/cluster/gpus", lambda route: route.fulfill(json={"items": uses}))


def _node(number: int) -> dict[str, Any]:
    teams = ("vision", "language", "speech", "other teams")
    team = teams[number // 9 % len(teams)]
    is_foreign = team == "other teams"
    job = number // 3
    held = 0 if number % 11 == 0 else GPUS - number % 3
    claim = {
        "team": team,
        "worker": None if is_foreign else f"job{job}-1-{number}",
        "job_id": None if is_foreign else f"job{job}",
        "job_name": None if is_foreign else f"train-{job}",
    }
    return {
        "name": f"gpu-{number:03}",
        "gpus": GPUS,
        "is_schedulable": number not in {20, 40},
        "is_draining": number == 40,
        "silent_since": "2026-11-22T14:02:00Z" if number == 60 else None,
        "silent_reason": "no route to host" if number == 60 else "",
        "claims": [{"gpu_index": index, **claim} for index in range(held)],
    }
