import { expect, it } from "vitest";

import { describeRemovals } from "./keeping";

const END = "2028-11-24T12:00:00Z";

it("says what goes before the job does, and what is gone", () => {
  const said = describeRemovals([
    { part: "logs", due_at: "2027-02-23T12:00:00Z", removed_at: null },
    { part: "curves", due_at: END, removed_at: "2026-12-01T12:00:00Z" },
    { part: "code", due_at: END, removed_at: null },
    { part: "job", due_at: END, removed_at: null },
  ]);
  expect(said).toEqual([
    "Logs until 23 Feb 2027",
    "Curves gone since 1 Dec 2026",
    "All of it until 24 Nov 2028",
  ]);
});

it("says nothing of a job that stays", () => {
  expect(describeRemovals([{ part: "job", due_at: null, removed_at: null }])).toEqual([]);
});
