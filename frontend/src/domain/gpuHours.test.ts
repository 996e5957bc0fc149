import { describe, expect, it } from "vitest";

import type { GpuUsage, GpuUsageRow } from "../api/types";
import { barsOf, describeBars, guaranteeOf, labelKeys, mostHeld, wasteOf } from "./gpuHours";

function aRow(given: Partial<GpuUsageRow> = {}): GpuUsageRow {
  return {
    guaranteed_gpu_hours: 0,
    borrowed_gpu_hours: 0,
    lent_gpu_hours: 0,
    reserved_gpu_hours: 0,
    idle_gpu_hours: 0,
    training_gpu_hours: 0,
    stalled_gpu_hours: 0,
    starting_gpu_hours: 0,
    lost_work_gpu_hours: 0,
    cost: null,
    credit: null,
    ...given,
  };
}

/** Of days here, wherever this runs. */
function aUsage(given: Partial<GpuUsage> = {}): GpuUsage {
  return {
    since: new Date(2026, 10, 1).toISOString(),
    until: new Date(2026, 10, 4).toISOString(),
    unseen_seconds: 0,
    items: [],
    total: aRow(),
    rows: 0,
    next_cursor: null,
    ...given,
  };
}

const SECOND = aRow({
  day: "2026-11-02",
  guaranteed_gpu_hours: 30,
  lent_gpu_hours: 10,
  reserved_gpu_hours: 3,
  idle_gpu_hours: 5,
  borrowed_gpu_hours: 7,
});

describe("a team's GPU-hours", () => {
  it("add up to the guarantee as it was, with what was lent and idle, not with what was borrowed", () => {
    expect(guaranteeOf(SECOND)).toBe(48);
  });

  it("have a bar for each day, also where nothing was", () => {
    const bars = barsOf(aUsage({ items: [SECOND] }), "day");
    expect(bars.map(({ name, guarantee }) => [name, guarantee])).toEqual([
      ["2026-11-01", 0],
      ["2026-11-02", 48],
      ["2026-11-03", 0],
    ]);
    expect(bars[1]).toMatchObject({ own: 30, borrowed: 7, lent: 10, idle: 8 });
    expect(bars[1]?.begins).toBe(bars[0]?.ends);
    expect(describeBars(bars, "day")).toBe(
      "GPU-hours by day, of 3 days: 30 own, 7 borrowed, 10 lent, of 48 guaranteed.",
    );
  });

  it("have a bar for each month, from the one in which the time begins", () => {
    const until = new Date(2027, 0, 15).toISOString();
    const names = barsOf(aUsage({ until }), "month").map(({ name }) => name);
    expect(names).toEqual(["2026-11", "2026-12", "2027-01"]);
  });

  it("have none before an hour is closed", () => {
    expect(barsOf(aUsage({ since: null, until: null }), "day")).toEqual([]);
  });

  it("say which part trained, of what was held", () => {
    const total = aRow({ guaranteed_gpu_hours: 8, borrowed_gpu_hours: 2, training_gpu_hours: 9 });
    expect(wasteOf(total)[0]).toEqual({ name: "trained", share: 0.9 });
    expect(wasteOf(aRow())).toEqual([]);
  });
});

describe("labels", () => {
  it("are offered with those of most jobs first", () => {
    const jobs = [{ labels: { b: "1", a: "1" } }, { labels: { c: "1" } }, { labels: { c: "2" } }];
    expect(labelKeys(jobs)).toEqual(["c", "a", "b"]);
  });
});

describe("those that held most", () => {
  const rows = [1, 3, 2].map((hours) => aRow({ guaranteed_gpu_hours: hours }));

  it("come first, and no more than are wanted", () => {
    expect(mostHeld(rows, 2).map((row) => row.guaranteed_gpu_hours)).toEqual([3, 2]);
  });

  it("stay as they are where there is room for all", () => {
    expect(mostHeld(rows, 3)).toBe(rows);
  });
});
