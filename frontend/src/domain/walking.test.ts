import { expect, test } from "vitest";

import { walked } from "./walking";

// Two rows of three, and a last one of one.
const PLACES = [0, 1, 2, 3, 4, 5, 6].map((number) => ({
  left: (number % 3) * 10,
  top: Math.floor(number / 3) * 10,
}));

test.each([
  ["ArrowRight", 0, 1],
  ["ArrowRight", 6, null],
  ["ArrowLeft", 3, 2],
  ["ArrowLeft", 0, null],
  ["ArrowDown", 1, 4],
  ["ArrowDown", 5, 6],
  ["ArrowDown", 6, null],
  ["ArrowUp", 6, 3],
  ["ArrowUp", 2, null],
  ["Home", 5, 0],
  ["End", 2, 6],
  ["a", 2, null],
])("%s leads from %i to %s", (key, from, to) => {
  expect(walked(key, from, PLACES)).toBe(to);
});
