import { expect, test } from "vitest";

import { addressOf, rangeOf, shifted } from "./timeRange";

const HOUR = 3_600_000;
const NOW = new Date(2026, 10, 28, 9, 30).getTime(); // by the reader's clock

test("without a time in the address it is the last hour, and goes on", () => {
  expect(rangeOf("", "", NOW)).toEqual({ from: NOW - HOUR, to: NOW, isLive: true });
  expect(rangeOf("2026-11-28T10:00:00Z", "2026-11-28T09:00:00Z", NOW).isLive).toBe(true);
  expect(rangeOf("2020-11-28T10:00:00Z", "2026-11-28T09:00:00Z", NOW).isLive).toBe(true);
  expect(addressOf("hour", NOW)).toEqual({ from: "", to: "" });
});

test("last night is the one that ended last", () => {
  const night = addressOf("night", NOW);
  const { from, to, isLive } = rangeOf(night.from, night.to, NOW);
  expect([from, to, isLive]).toEqual([
    new Date(2026, 10, 27, 20).getTime(),
    new Date(2026, 10, 28, 8).getTime(),
    false,
  ]);
  const early = new Date(2026, 10, 28, 3).getTime();
  expect(Date.parse(addressOf("night", early).to)).toBe(new Date(2026, 10, 27, 8).getTime());
});

test("other times end now, and lead to those before", () => {
  const day = addressOf("day", NOW);
  const range = rangeOf(day.from, day.to, NOW);
  expect(range.to - range.from).toBe(24 * HOUR);
  const six = addressOf("six-hours", NOW);
  expect(Date.parse(six.to) - Date.parse(six.from)).toBe(6 * HOUR);
  expect(shifted(range, -1).to).toBe(day.from);
});
