import { describe, expect, it } from "vitest";

import {
  addressOf,
  countOfWishes,
  EVERY_JOB,
  filterOf,
  queryOf,
  withLabel,
  type JobFilter,
} from "./jobFilter";

const NOW = Date.parse("2026-11-28T12:34:56Z");
const WISHES: JobFilter = {
  states: ["completed", "failed"],
  team: "vision",
  user: "ada",
  pool: "default",
  array: "digits",
  labels: ["net=res=net", "paper"],
  search: "trial 7&8",
  within: "",
  since: "2026-11-01",
  until: "2026-11-07",
  order: "submitted",
};

function read(address: string): JobFilter {
  return filterOf(new URLSearchParams(address));
}

describe("the filter of jobs", () => {
  it("comes back from the address as it was written there", () => {
    expect(filterOf(addressOf(WISHES, new URLSearchParams()))).toEqual(WISHES);
    expect(filterOf(addressOf({ ...EVERY_JOB, within: "7d" }, new URLSearchParams()))).toEqual({
      ...EVERY_JOB,
      within: "7d",
    });
  });

  it("leaves the address empty without a wish, and what else stands there alone", () => {
    expect(addressOf(EVERY_JOB, new URLSearchParams()).toString()).toBe("");
    const before = new URLSearchParams("columns=name&team=vision&label=a&label=b");
    expect(addressOf(EVERY_JOB, before).toString()).toBe("columns=name");
  });

  it("leaves out what an address cannot mean", () => {
    const odd = "state=dead,failed,&within=9y&since=yesterday&until=2026-13-45&order=name&label==b";
    expect(read(odd)).toEqual({ ...EVERY_JOB, states: ["failed"] });
    expect(read(`search=${"x".repeat(999)}`).search).toHaveLength(200);
    const labels = Array.from({ length: 20 }, (_, place) => `label=a${place}`).join("&");
    expect(read(labels).labels).toHaveLength(8);
  });

  it("asks the service for no more than was wished", () => {
    expect(queryOf(EVERY_JOB, NOW)).toEqual({ order: "recent" });
    expect(queryOf(WISHES, NOW)).toMatchObject({
      state: "completed,failed",
      label: ["net=res=net", "paper"],
      order: "submitted",
    });
  });

  it("counts a last day whole, and days as they are here", () => {
    const { since, until } = queryOf(WISHES, NOW);
    expect(new Date(since ?? "").getTime()).toBe(new Date(2026, 10, 1).getTime());
    expect(new Date(until ?? "").getTime()).toBe(new Date(2026, 10, 8).getTime());
  });

  it("counts back from the minute, so that a list that is drawn again is not read again", () => {
    const filter: JobFilter = { ...EVERY_JOB, within: "24h" };
    expect(queryOf(filter, NOW).since).toBe("2026-11-27T12:34:00.000Z");
    expect(queryOf(filter, NOW + 1000)).toEqual(queryOf(filter, NOW));
  });

  it("takes each label once, and counts its wishes", () => {
    const labelled = withLabel(withLabel(EVERY_JOB, "net=bert"), "net=bert");
    expect(labelled.labels).toEqual(["net=bert"]);
    expect(countOfWishes(EVERY_JOB)).toBe(0);
    expect(countOfWishes({ ...WISHES, order: "recent" })).toBe(10);
  });
});
