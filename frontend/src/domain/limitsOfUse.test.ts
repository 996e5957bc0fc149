import { describe, expect, it } from "vitest";

import { limitsOfUse } from "./limitsOfUse";

describe("the limits of a job", () => {
  it("are none unless its spec sets some", () => {
    expect(limitsOfUse({ gpu_seconds: 9, held_seconds: 9, resolved_spec: {} })).toEqual([]);
    const unset = { budget_gpu_hours: null, max_duration: null };
    expect(limitsOfUse({ gpu_seconds: 9, held_seconds: 9, resolved_spec: unset })).toEqual([]);
  });

  it("say how much there is, and warn from four fifths on", () => {
    const resolved_spec = { budget_gpu_hours: 2.5, max_duration: "2h" };
    expect(limitsOfUse({ gpu_seconds: 7200, held_seconds: 3600, resolved_spec })).toEqual([
      { words: "of at most 2.5 GPU-h", isNear: true },
      { words: "held for 1 h of at most 2h", isNear: false },
    ]);
    const soon = { max_duration: "75m" };
    expect(limitsOfUse({ gpu_seconds: 0, held_seconds: 3600, resolved_spec: soon })).toEqual([
      { words: "held for 1 h of at most 75m", isNear: true },
    ]);
  });
});
