import { describe, expect, it } from "vitest";

import { at } from "../testing/samples";
import { durationBetween, milliseconds, momentInList, relativeTime } from "./time";

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

describe("a moment in a list", () => {
  it("has as much of a date as tells it apart from now", () => {
    const noon = new Date(2026, 10, 28, 12).getTime();
    expect(momentInList(new Date(2026, 10, 28, 9, 5).getTime(), noon)).toBe("09:05");
    expect(momentInList(new Date(2026, 10, 27, 13).getTime(), noon)).toBe("27 Nov, 13:00");
    expect(momentInList(new Date(2025, 10, 28, 12).getTime(), noon)).toBe("28 Nov 2025");
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
