import { describe, expect, it } from "vitest";

import type { JobDetail } from "../api/types";
import { rangeWarnings } from "./batches";

function aWorth(reachesTooFar: boolean): JobDetail["batch_worth"] {
  return {
    base: 32,
    largest: 128,
    of_largest: 0.4,
    supported: 96,
    reaches_too_far: reachesTooFar,
    message: "At 128 each sample is worth 0.4 of one at 32.",
  };
}

describe("a warning about the range of batches", () => {
  it("is the service's sentence where the range reaches too far", () => {
    expect(rangeWarnings({ batch_worth: aWorth(true) })).toEqual([
      "At 128 each sample is worth 0.4 of one at 32.",
    ]);
  });

  it("is not given where the noise supports the range, or is not known", () => {
    expect(rangeWarnings({ batch_worth: aWorth(false) })).toEqual([]);
    expect(rangeWarnings({ batch_worth: null })).toEqual([]);
  });
});
