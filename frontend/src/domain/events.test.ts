import { describe, expect, it } from "vitest";

import type { JobEvent } from "../api/types";
import { happeningsOf } from "./events";

function anEvent(id: number, given: Partial<JobEvent>): JobEvent {
  const plain = { kind: "state_changed", old_state: "", new_state: "", reason: "", message: "" };
  return { id, ...plain, ...given } as JobEvent;
}

function change(id: number, old_state: string, new_state: string, message = "more GPUs"): JobEvent {
  return anEvent(id, { old_state, new_state, message, reason: "best_allocation" } as JobEvent);
}

function titles(...events: JobEvent[]): string[] {
  return happeningsOf(events).map(({ first, title }) => `${first.id}: ${title}`);
}

describe("what happened", () => {
  it("is one line for what has one cause, the newest first", () => {
    const there = change(2, "running", "rescaling");
    const back = change(3, "rescaling", "running");
    expect(titles(change(1, "", "queued", "submitted"), there, back)).toEqual([
      "2: running → rescaling → running",
      "1: queued",
    ]);
  });

  it("is told apart where the cause, or the way, is another", () => {
    const other = change(2, "rescaling", "running", "fewer GPUs");
    expect(titles(change(1, "running", "rescaling"), other)).toHaveLength(2);
    expect(titles(change(1, "running", "rescaling"), change(2, "paused", "queued"))).toHaveLength(
      2,
    );
  });

  it("has a name where no state changed", () => {
    const told = titles(anEvent(1, { kind: "worker_lost" }), anEvent(2, { kind: "worker_lost" }));
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(/^2: ./);
  });
});
