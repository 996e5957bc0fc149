import { describe, expect, it } from "vitest";

import { addressOf, changedValues, EVERY_ENTRY, filterOf, pageOf, queryOf } from "./audit";

describe("the filter", () => {
  it("comes back from the address as it was written there", () => {
    const filter = {
      ...EVERY_ENTRY,
      sender: "vision/nightly",
      operation: "change_quota",
      outcome: "refused",
      since: "2026-11-01",
    } as const;
    expect(filterOf(addressOf(filter))).toEqual(filter);
  });

  it("leaves out what cannot be meant", () => {
    const address = new URLSearchParams({ outcome: "perhaps", since: "yesterday", until: "" });
    expect(filterOf(address)).toEqual(EVERY_ENTRY);
  });

  it.each(["0000-01-01", "9999-12-31"])("leaves out %s, near which no moment is counted", (day) => {
    const address = new URLSearchParams({ since: day, until: day });
    expect(filterOf(address)).toEqual(EVERY_ENTRY);
  });

  it("is no longer than what the service takes", () => {
    const address = new URLSearchParams({ operation: "x".repeat(5000) });
    expect(filterOf(address).operation).toHaveLength(100);
  });

  it("asks for whole days of the reader, the last one with them", () => {
    const asked = queryOf({ ...EVERY_ENTRY, since: "2026-11-01", until: "2026-11-01" });
    const span = Date.parse(asked.until ?? "") - Date.parse(asked.since ?? "");
    expect(span).toBe(24 * 3_600_000);
    expect(new Date(asked.since ?? "").getHours()).toBe(0);
    expect(Object.keys(asked)).toEqual(["since", "until"]);
  });
});

describe("what an entry changed", () => {
  it("is what differs, and what came or went", () => {
    const before = { guaranteed_gpus: 2, pool: "default", gone: [1] };
    const after = { guaranteed_gpus: 4, pool: "default", name: "a" };
    expect(changedValues({ before, after })).toEqual([
      { name: "guaranteed_gpus", before: "2", after: "4" },
      { name: "gone", before: "[1]", after: "" },
      { name: "name", before: "", after: "a" },
    ]);
  });

  it("is nothing where nothing is told", () => {
    expect(changedValues({ before: null, after: null })).toEqual([]);
    expect(changedValues({ before: "text", after: null })).toEqual([]);
  });
});

it.each([
  ["jobs/h4k2", "/jobs/h4k2"],
  ["jobs/h4k2/cancel", "/jobs/h4k2"],
  ["teams/vision/quotas/default", "/teams/vision"],
  ["teams", null],
  ["webhooks/3", null],
  ["admin/auth/user/1", null],
])("%s is shown by %s", (target, page) => {
  expect(pageOf(target)).toBe(page);
});
