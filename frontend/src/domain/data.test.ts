import { expect, test } from "vitest";

import { dataUses } from "./data";

test("a job without data, and one of before there was any, uses none", () => {
  expect(dataUses({ data: [] })).toEqual([]);
  expect(dataUses({})).toEqual([]);
});

test("a use is known by its source and the part of it", () => {
  const uses = dataUses({
    data: [
      { source: "imagenet", path: "train", mount: null, writable: false },
      { source: "scratch", path: "", mount: "/scratch-of-ours", writable: true },
    ],
  });
  expect(uses).toEqual([
    { source: "imagenet", label: "imagenet/train" },
    { source: "scratch", label: "scratch, writable" },
  ]);
});
