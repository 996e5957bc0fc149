import { expect, test } from "vitest";

import type { Tick, TickChange } from "../api/types";
import { changeText, reasonText, stripsOf, ticksAsCsv } from "./ticks";

function aChange(given: Partial<TickChange> = {}): TickChange {
  return {
    team: "vision",
    job_id: "k3v9",
    job_name: "digits",
    pool: "default",
    gpus_before: 4,
    gpus_after: 2,
    action: "rescale",
    reason: "reclaim_guarantee",
    message: "It gives way.",
    gain: -0.4,
    stall_seconds: 1.5,
    ...given,
  };
}

function aTick(given: Partial<Tick> = {}): Tick {
  return {
    id: 1,
    at: "2026-11-27T12:00:00Z",
    observe_seconds: 0.1,
    plan_seconds: 0.02,
    apply_seconds: 0.1,
    alarm: "",
    pools: [],
    changes_count: 1,
    changes: [aChange()],
    teams: [],
    ...given,
  };
}

const FOREIGN = {
  team: "other teams",
  job_id: null,
  job_name: null,
  reason: "",
  action: "",
} as const;

test("both strips have the same order, so that only what changed moves", () => {
  const parts = stripsOf([aChange(), aChange({ ...FOREIGN, gpus_before: 0, gpus_after: 2 })], 8);
  expect(parts.map(({ name, before, after }) => [name, before, after])).toEqual([
    ["a job of other teams", { begin: 0, end: 0 }, { begin: 0, end: 0.25 }],
    ["digits", { begin: 0, end: 0.5 }, { begin: 0.25, end: 0.5 }],
  ]);
});

test("a strip is never longer than its pool, also while more is held than planned with", () => {
  const [part] = stripsOf([aChange({ gpus_before: 6 })], 4);
  expect(part?.before).toEqual({ begin: 0, end: 1 });
});

test.each([
  [{}, "digits 4 → 2 GPUs"],
  [{ gpus_before: 0, gpus_after: 1 }, "digits starts on 1 GPU"],
  [{ gpus_after: 0 }, "digits pauses, gives 4 GPUs back"],
  [{ gpus_after: 4 }, "digits keeps 4 GPUs, but changes"],
  [{ action: "drop" as const, gpus_before: 0, gpus_after: 0 }, "digits did not fit and is refused"],
  [FOREIGN, "A job of other teams 4 → 2 GPUs"],
])("a change is told by what it does", (given, text) => {
  expect(changeText(aChange(given))).toBe(text);
});

test("a reason is told of jobs that one may see", () => {
  expect(reasonText(aChange())).toBe("Guarantee reclaimed");
  expect(reasonText(aChange(FOREIGN))).toBe("");
});

test("ticks are a table of their changes, and of alarms", () => {
  const ticks = [aTick(), aTick({ changes: [], changes_count: 0, alarm: "a GPU twice" })];
  expect(ticksAsCsv(ticks).split("\n").slice(1, 3)).toEqual([
    "2026-11-27T12:00:00Z,vision,digits,k3v9,default,rescale,4,2,reclaim_guarantee,It gives way.,-0.4,1.5,0.02,",
    "2026-11-27T12:00:00Z,,,,,,,,,,,,0.02,a GPU twice",
  ]);
});
