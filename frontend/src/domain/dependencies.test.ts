import { expect, test } from "vitest";

import type { Dependency } from "../api/types";
import { endOf, goneOf, hasDependencies, moreThatWait } from "./dependencies";

const one: Dependency = { job_id: "k2", name: "prepare", when: "ok", state: "", ended_as: "" };

test("it is told which end of a job is waited for", () => {
  expect(endOf(one)).toBe("to complete");
  expect(endOf({ ...one, when: "any" })).toBe("to end");
  expect(endOf({ ...one, when: "failed" })).toBe("to fail");
});

test("of a deleted job it is told how it ended, where that is known", () => {
  expect(goneOf(one)).toBe("deleted");
  expect(goneOf({ ...one, ended_as: "completed" })).toBe("deleted, completed");
});

test("a job without dependencies shows none, and those beyond the first are counted", () => {
  const none = { waits_for: [], awaited_by: [], awaited_by_total: 0 };
  expect(hasDependencies(undefined)).toBe(false);
  expect(hasDependencies(none)).toBe(false);
  const known = { waits_for: [], awaited_by: [one], awaited_by_total: 12 };
  expect(hasDependencies(known)).toBe(true);
  expect(moreThatWait(known)).toBe(11);
});
