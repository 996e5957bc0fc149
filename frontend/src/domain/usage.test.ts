import { describe, expect, it } from "vitest";

import type { UsagePoint } from "../api/types";
import { measuresOf, usageCurve } from "./usage";

function aUse(known: Partial<UsagePoint>): UsagePoint {
  return {
    at: "2026-11-25T12:00:00Z",
    workers: 1,
    cpu_cores: null,
    memory_bytes: null,
    gpu_utilisation: null,
    gpu_memory_bytes: null,
    gpu_power_watts: null,
    ...known,
  };
}

describe("measuresOf", () => {
  it("names what was read of anybody, GPUs first", () => {
    const points = [aUse({ cpu_cores: 1, memory_bytes: 1 }), aUse({ gpu_utilisation: 0 })];
    expect(measuresOf(points).map(({ name }) => name)).toEqual(["GPU use", "CPU", "Memory"]);
    expect(measuresOf([])).toEqual([]);
  });
});

describe("usageCurve", () => {
  it("leaves out what nobody could tell, and writes shares as percent", () => {
    const points = [aUse({ gpu_utilisation: 0.5 }), aUse({})];
    const [use] = measuresOf(points);
    expect(use && usageCurve(points, use)).toEqual([[Date.UTC(2026, 10, 25, 12), 50]]);
  });
});
