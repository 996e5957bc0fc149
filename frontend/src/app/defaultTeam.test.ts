import { expect, test } from "vitest";

import { defaultTeamFirst } from "./defaultTeam";

test("the chosen team comes first while one is in it", () => {
  expect(defaultTeamFirst(["a", "b", "c"], "c")).toEqual(["c", "a", "b"]);
  expect(defaultTeamFirst(["a", "b"], "gone")).toEqual(["a", "b"]);
  expect(defaultTeamFirst(["a", "b"], "")).toEqual(["a", "b"]);
});
