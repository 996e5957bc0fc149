import { expect, it } from "vitest";

import type { EventKind, FeedEvent } from "../api/types";
import { concernedBy, isConcerned } from "./concerned";

function happened(kind: EventKind, job = "k3v9"): FeedEvent {
  return {
    position: 1,
    team: "vision",
    job_id: job,
    job_name: "bert",
    id: 1,
    kind,
    at: "2026-01-01T00:00:00Z",
    old_state: "",
    new_state: "",
    reason: "",
    message: "",
    data: {},
  };
}

it("has all that is known of a job asked for anew, and of no other", () => {
  const parts = concernedBy([happened("worker_lost")]);
  expect(isConcerned(["job", "k3v9", "checkpoints"], parts)).toBe(true);
  expect(isConcerned(["job", "other"], parts)).toBe(false);
  expect(isConcerned(["jobs", "count", {}], parts)).toBe(false);
});

it("has lists asked for anew when a job moves", () => {
  const parts = concernedBy([happened("state_changed")]);
  for (const key of [
    ["jobs", "count", { state: "queued" }],
    ["sweeps", "list"],
    ["node", "n1", "jobs"],
    ["team", "vision", "schedules"],
  ]) {
    expect(isConcerned(key, parts)).toBe(true);
  }
  expect(isConcerned(["team", "language", "schedules"], parts)).toBe(false);
  expect(isConcerned(["jobs", "like", "bert"], parts)).toBe(false);
});

it("names each part once, however much happened", () => {
  const many = Array.from({ length: 500 }, () => happened("state_changed"));
  expect(concernedBy(many)).toHaveLength(5);
  expect(concernedBy([])).toEqual([]);
});
