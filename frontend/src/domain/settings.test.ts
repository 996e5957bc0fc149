import { expect, test } from "vitest";

import { groupsOf, offsetOf, problemOf } from "./settings";

const setting = (group: string, name: string) => ({ group, name, value: "1", meaning: "m" });

test("settings stand in the groups in which they came", () => {
  const groups = groupsOf([setting("B", "1"), setting("A", "2"), setting("B", "3")]);
  expect(groups.map(({ name, settings }) => [name, settings.map((one) => one.name)])).toEqual([
    ["B", ["1", "3"]],
    ["A", ["2"]],
  ]);
});

test("a new password is typed twice", () => {
  expect(problemOf("a", "b")).toContain("twice");
  expect(problemOf("a", "a")).toBe("");
});

test("an offset is told with its sign", () => {
  const at = (minutes: number) => ({ getTimezoneOffset: () => minutes }) as Date;
  expect(offsetOf(at(-60))).toBe("UTC+01:00");
  expect(offsetOf(at(210))).toBe("UTC−03:30");
});
