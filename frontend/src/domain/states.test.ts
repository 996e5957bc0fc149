import { describe, expect, it } from "vitest";

import { ACTIVE, FINAL, isDeletable, isFinal, toneOf, actionsFor, WAITING } from "./states";

describe("the states", () => {
  it("are each active, waiting or final", () => {
    expect(new Set([...ACTIVE, ...WAITING, ...FINAL]).size).toBe(9);
  });

  it("offer nothing to do once a job is over or is ending", () => {
    for (const state of [...FINAL, "stopping" as const]) expect(actionsFor(state)).toEqual([]);
  });

  it("let a paused job be resumed and only that one", () => {
    const resumable = [...ACTIVE, ...WAITING].filter((state) =>
      actionsFor(state).includes("resume"),
    );
    expect(resumable).toEqual(["paused"]);
  });

  it("let a job be deleted once it is over, unless it is pinned", () => {
    for (const state of [...ACTIVE, ...WAITING]) {
      expect(isDeletable({ state, is_pinned: false })).toBe(false);
    }
    for (const state of FINAL) {
      expect(isDeletable({ state, is_pinned: false })).toBe(true);
      expect(isDeletable({ state, is_pinned: true })).toBe(false);
    }
  });

  it("warn of failure in colour too", () => {
    expect(isFinal("failed")).toBe(true);
    expect(toneOf("failed")).toBe("danger");
  });
});
