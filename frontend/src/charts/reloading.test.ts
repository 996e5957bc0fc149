import { expect, test } from "vitest";

import { oneMore, waitBeforeReload } from "./reloading";

const NEVER = { count: 0, at: 0 };

test("a page waits twice as long before each further reload, and then gives up", () => {
  const waits: (number | null)[] = [];
  let past = NEVER;
  let now = 1_000_000;
  for (let i = 0; i < 6; i++) {
    waits.push(waitBeforeReload(past, now));
    past = oneMore(past, now);
    now += 16_000;
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, null]);
});

test("what was long ago does not count", () => {
  const past = { count: 5, at: 1_000_000 };
  expect(waitBeforeReload(past, 1_299_999)).toBeNull();
  expect(waitBeforeReload(past, 1_300_000)).toBe(1000);
  expect(oneMore(past, 1_300_000)).toEqual({ count: 1, at: 1_300_000 });
});
