import { describe, expect, it } from "vitest";

import { at } from "../testing/samples";
import { durationBetween, milliseconds, relativeTime } from "./time";

const now = milliseconds(at(0));

describe("a moment", () => {
  it.each([
    [2, "just now"],
    [42, "42 s ago"],
    [185, "3 min ago"],
    [7200, "2 h ago"],
    [200_000, "2 d ago"],
    [-90, "in 1 min"],
  ])("%s seconds back reads %s", (seconds, text) => {
    expect(relativeTime(now - seconds * 1000, now)).toBe(text);
  });
});

describe("a stretch of time", () => {
  it("with an open end lasts until now", () => {
    expect(durationBetween(at(-65), null, now)).toBe("1 min 5 s");
  });

  it("is never negative, whatever the clocks say", () => {
    expect(durationBetween(at(10), at(5), now)).toBe("0.00 s");
  });
});
