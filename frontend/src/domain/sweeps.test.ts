/** What is said of sweeps and their trials? */

import { describe, expect, it } from "vitest";

import type { SweepDetail, SweepTrial } from "../api/types";
import {
  inOrder,
  isOutOfIt,
  metricText,
  sweepStatus,
  trialLines,
  trialStatus,
  valuesText,
} from "./sweeps";

function trial(number: number, more: Partial<SweepTrial> = {}): SweepTrial {
  return {
    id: `job-${String(number)}`,
    name: `digits-${String(number)}`,
    number,
    values: { lr: 0.1, optimizer: "adam" },
    state: "running",
    reason: "best_allocation",
    message: "",
    resource: 1,
    value: null,
    rung: null,
    marks: [],
    gpu_seconds: 0,
    is_best: false,
    ...more,
  };
}

function sweep(...items: SweepTrial[]): SweepDetail {
  return {
    id: "k7m2pqx4ab",
    name: "digits",
    team: "vision",
    parameters: ["lr", "optimizer"],
    metric: "loss",
    goal: "min",
    trials: 9,
    made: items.length,
    max_running: 3,
    resource: "epochs",
    rungs: [1, 3],
    reduction: 3,
    most: 9,
    states: {},
    submitted_by: "ada",
    submitted_at: "2026-11-29T10:00:00Z",
    ended_at: null,
    message: "",
    may_change: true,
    items,
    best: null,
    spec: {},
    terms: {},
    notes: [],
  };
}

describe("a trial", () => {
  it("waits at a rung, is stopped, or is in its job's state", () => {
    expect(trialStatus(trial(1)).text).toBe("running");
    expect(trialStatus(trial(1, { reason: "paused_at_rung", state: "paused" })).text).toBe(
      "waits at rung",
    );
    const stopped = trial(1, { reason: "stopped_by_sweep", state: "cancelled" });
    expect(trialStatus(stopped).text).toBe("stopped");
    expect([isOutOfIt(stopped), isOutOfIt(trial(1))]).toEqual([true, false]);
    expect(isOutOfIt({ ...stopped, is_best: true })).toBe(false);
  });

  it("has its values and its metric in words", () => {
    const mark = { rung: 0, resource: 1, value: null, promoted_at: null };
    expect(valuesText(trial(1))).toBe("lr 0.1, optimizer adam");
    expect([metricText(trial(1)), metricText(trial(1, { marks: [mark] }))]).toEqual([
      "–",
      "no number",
    ]);
  });
});

describe("a sweep", () => {
  it("says whether it goes on", () => {
    expect(sweepStatus(sweep(trial(1))).text).toBe("goes on, 1 of 9 trials");
    const ended = { ...sweep(trial(1)), ended_at: "2026-11-29T11:00:00Z" };
    expect(sweepStatus(ended).tone).toBe("warning");
    expect(sweepStatus({ ...ended, states: { completed: 1 } }).tone).toBe("good");
  });

  it("shows the best first, then those that came furthest", () => {
    const items = [
      trial(1, { rung: 0, value: 0.1 }),
      trial(2, { rung: 1, value: 0.4 }),
      trial(3, { rung: 1, value: 0.3 }),
      trial(4),
      trial(5, { is_best: true, rung: 0, value: 0.9 }),
    ];
    expect(inOrder(sweep(...items)).map(({ number }) => number)).toEqual([5, 3, 2, 1, 4]);
  });

  it("has a line for each trial: its curve, or else its values at rungs", () => {
    const mark = { rung: 0, resource: 1, value: 0.4, promoted_at: null };
    const found = sweep(trial(1), trial(2, { marks: [mark] }), trial(3));
    const curves = [{ job_id: "job-1", resources: [1, 2], values: [0.9, 0.8] }];
    expect(trialLines(found, curves).map(({ points }) => points)).toEqual([
      [
        [1, 0.9],
        [2, 0.8],
      ],
      [[1, 0.4]],
    ]);
  });
});
