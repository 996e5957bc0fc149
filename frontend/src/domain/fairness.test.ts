import { describe, expect, it } from "vitest";

import { causesOf } from "./fairness";

function missing(pool: string, cause: string, gpuSeconds: number) {
  return { pool, cause, label: cause.replace("_", " "), gpu_seconds: gpuSeconds };
}

describe("why a team was not given what it was owed", () => {
  it("is added up over pools, the largest first", () => {
    const receipt = {
      missing: [
        missing("a100", "nodes_lost", 400),
        missing("h100", "reclaim", 300),
        missing("a100", "reclaim", 200),
      ],
    };
    expect(causesOf(receipt)).toEqual([
      { cause: "reclaim", label: "reclaim", gpuSeconds: 500, pools: ["h100", "a100"] },
      { cause: "nodes_lost", label: "nodes lost", gpuSeconds: 400, pools: ["a100"] },
    ]);
  });

  it("is in the order of words where it is as much", () => {
    const receipt = { missing: [missing("a", "starting", 60), missing("a", "fragmented", 60)] };
    expect(causesOf(receipt).map(({ cause }) => cause)).toEqual(["fragmented", "starting"]);
  });

  it("is nothing where nothing was missing", () => {
    expect(causesOf({ missing: [] })).toEqual([]);
  });
});
