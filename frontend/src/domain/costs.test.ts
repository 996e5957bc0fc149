import { describe, expect, it } from "vitest";

import type { Job } from "../api/types";
import { aGeneration } from "../testing/samples";
import { changesOf } from "./changes";
import {
  costOf,
  describeIdle,
  describeLostWork,
  describeStalls,
  lostWorkOf,
  stallOf,
} from "./costs";

function aJob(stall: number, trained: number, lost = 0): Job {
  return { stall_seconds: stall, trained_seconds: trained, lost_work_seconds: lost } as Job;
}

describe("the cost of all changes", () => {
  it("is a time and its share of the run", () => {
    expect(describeStalls(aJob(2.1, 525))).toBe("2.1 s standing still in all (0.4 %)");
    expect(describeStalls(aJob(0.2, 1000))).toBe("0.20 s standing still in all (0.02 %)");
    expect(describeStalls(aJob(60, 300))).toBe("1 min standing still in all (20 %)");
    expect(describeStalls(aJob(0, 300))).toBe("0.00 s standing still in all (0 %)");
  });

  it("has no share of a run that has not begun", () => {
    expect(describeStalls(aJob(0, 0))).toBe("0.00 s standing still in all");
  });

  it("names work that was made again, if any was", () => {
    expect(describeLostWork(aJob(0, 300))).toBe("");
    expect(describeLostWork(aJob(0, 300, 30))).toBe("30 s of work made again");
  });
});

describe("the cost of one change", () => {
  it("is a dash where there was none", () => {
    expect(costOf(0)).toBe("–");
    expect(costOf(0.25)).toBe("0.25 s");
    expect(costOf(0.0038)).toBe("3.8 ms");
  });

  it("tells for how long nothing trained before", () => {
    const restarted = aGeneration(2, { idle_seconds: 8.25 });
    expect(changesOf([aGeneration(1), restarted]).map(describeIdle)).toEqual([
      "",
      "Nothing trained for 8.3 s before",
    ]);
  });

  it("claims no more of a script's restart than its log tells", () => {
    const told = {
      ordered_at: "2026-11-22T12:00:00Z",
      seconds: 12,
      sign: "iteration",
      repeated_units: 0,
      repeated_unit: "iteration",
      repeated_seconds: 0,
      message: "",
    } as const;
    const unknown = { ...told, seconds: null, repeated_units: null, repeated_seconds: null };
    const restarts = [told, unknown].map((restart) => aGeneration(1, { restart }));
    const [known, asked] = changesOf(restarts);
    expect(known && [stallOf(known), lostWorkOf(known)]).toEqual(["about 12 s", "none seen"]);
    expect(asked && [stallOf(asked), lostWorkOf(asked)]).toEqual(["not known", "not known"]);
  });

  it("tells the steps that were lost and how long they had taken", () => {
    const lost = aGeneration(1, { lost_steps: 60, lost_work_seconds: 30 });
    expect(changesOf([aGeneration(1), lost]).map(lostWorkOf)).toEqual(["–", "30 s (60 steps)"]);
  });
});
