import { describe, expect, it } from "vitest";

import type { PriceStep, QuotaPriceResult, TeamOutcome } from "../api/types";
import { jobHours, priceBars, priceInWords } from "./quotaPrice";

const TEAM: TeamOutcome = {
  guaranteed_gpus: 2,
  jobs: 4,
  finished: 4,
  wait_seconds: 60,
  completion_seconds: 3600,
  gpu_hours: 8,
  borrowed_gpu_hours: 2,
  lent_gpu_hours: 0,
  paused_jobs: 0,
};

function step(gpus: number, saved: number | null, more: Partial<PriceStep> = {}): PriceStep {
  return { gpus, adds_gpus: 0, team: TEAM, job_hours_saved: saved, others: [], ...more };
}

function result(steps: PriceStep[], more: Partial<QuotaPriceResult> = {}): QuotaPriceResult {
  const kept = { team: TEAM, job_hours_saved: -3, others: [] };
  const until = "2026-11-29T12:00:00Z";
  return { until, jobs: 9, now: TEAM, without_borrowing: kept, steps, ...more };
}

describe("bars", () => {
  it("come with the fewest GPUs first, as long as what they save or lose", () => {
    const bars = priceBars(result([step(2, 4), step(-1, -1), step(1, null)]));
    expect(bars.map(({ name, percent }) => [name, percent])).toEqual([
      ["1 GPU fewer", 25],
      ["1 GPU more", 0],
      ["2 GPUs more", 100],
    ]);
  });

  it("have no length where nothing changes", () => {
    expect(priceBars(result([step(1, 0)])).map(({ percent }) => percent)).toEqual([0]);
    expect(priceBars(result([]))).toEqual([]);
  });

  it("say what others lose, and what has to be bought", () => {
    const others = [
      { team: "language", job_hours_saved: -1.5 },
      { team: "audio", job_hours_saved: -0.5 },
    ];
    const [bar] = priceBars(result([step(3, 4, { others, adds_gpus: 1 })]));
    expect(bar?.note).toBe("others: 2.0 job-hours lost · 1 GPU of them bought");
    const unknown = [{ team: "language", job_hours_saved: null }];
    expect(priceBars(result([step(3, 4, { others: unknown })]))[0]?.note).toBe("");
  });
});

describe("sentences", () => {
  it("tell what borrowing brought, and what one GPU more would in a week", () => {
    expect(priceInWords(result([step(1, 2)]), 14)).toEqual([
      "What it borrowed saved 3.0 hours of its jobs.",
      "One GPU more would have saved 1.0 hours of its jobs a week.",
    ]);
  });

  it("do not compare what did not end", () => {
    const kept = { team: { ...TEAM, finished: 1 }, job_hours_saved: null, others: [] };
    expect(priceInWords(result([step(1, null)], { without_borrowing: kept }), 7)).toEqual([
      "Without borrowing, 1 of its 4 jobs would have ended.",
    ]);
  });

  it("say that nothing is guaranteed, or nothing changes", () => {
    expect(priceInWords(result([step(1, 0)], { without_borrowing: null }), 7)).toEqual([
      "It is guaranteed nothing: all that it had was borrowed.",
      "One GPU more would have saved nothing.",
    ]);
    expect(jobHours(0.01)).toBe("no difference");
    expect(jobHours(null)).toBe("does not compare");
  });
});
