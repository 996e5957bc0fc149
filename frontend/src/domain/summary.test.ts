import { describe, expect, it } from "vitest";

import { movementOfTime } from "./summary";

describe("the movement of a completion time", () => {
  it("is better when it got shorter", () => {
    expect(movementOfTime(80, 100)).toEqual({ text: "20 % shorter", direction: "better" });
    expect(movementOfTime(150, 100)).toEqual({ text: "50 % longer", direction: "worse" });
  });

  it("is no movement within the noise", () => {
    expect(movementOfTime(100.2, 100)?.direction).toBe("same");
  });

  it("is unknown without a window before, or with nothing completed now", () => {
    expect(movementOfTime(80, null)).toBeNull();
    expect(movementOfTime(null, 100)).toBeNull();
    expect(movementOfTime(80, 0)).toBeNull();
  });
});
