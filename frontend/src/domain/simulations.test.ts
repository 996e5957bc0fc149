import { describe, expect, it } from "vitest";

import type { SimulatedRun, SimulationDetail } from "../api/types";
import {
  askedInWords,
  barsOf,
  contentProblem,
  daysSince,
  draftOf,
  FIGURES,
  firstDraft,
  runsAsCsv,
  sizeProblem,
  titleOf,
  wishOf,
} from "./simulations";

const RUN: SimulatedRun = {
  label: "static",
  jobs: 40,
  done: 38,
  dropped: 0,
  backlog: 2,
  mean_completion_seconds: 7200,
  p50_completion_seconds: 3600,
  p99_completion_seconds: 86_400,
  mean_wait_seconds: 0,
  makespan_seconds: null,
  gpu_hours: 12.5,
  utilisation: 0.5,
  scaling_efficiency: null,
  rescales_per_job: 0,
  pauses_per_job: 0,
  worst_fairness: 1.25,
  deadlines_met: null,
  mean_decision_seconds: null,
  max_decision_seconds: null,
};

function form(values: Readonly<Record<string, string>>): FormData {
  const filled = new FormData();
  for (const [name, value] of Object.entries(values)) filled.append(name, value);
  return filled;
}

describe("what is asked", () => {
  it("is the past where one may read it, under the pool's policy and the baseline", () => {
    const pool = { name: "a100", policy: "throughput" };
    expect(firstDraft(pool, true)).toMatchObject({
      kind: "history",
      pool: "a100",
      policies: ["throughput", "static"],
    });
    expect(firstDraft({ name: "a100", policy: "static" }, false)).toMatchObject({
      kind: "generated",
      policies: ["static"],
    });
  });

  it("has a title, and each policy once", () => {
    const wish = wishOf(
      form({
        kind: "history",
        days: "2",
        policy: "static",
        others: " static  scaling_efficiency:threshold=0.2 ",
        pool: "default",
        add_gpus: "-8",
        title: " ",
      }),
      "",
    );
    expect(wish.title).toBe("The last 2 days");
    expect(wish.policies).toEqual(["static", "scaling_efficiency:threshold=0.2"]);
    expect([wish.add_gpus, wish.trace.days, wish.trace.jobs]).toEqual([-8, 2, 160]);
    expect("text" in wish.trace).toBe(false);
  });

  it("comes back to be asked again", () => {
    const request = wishOf(form({ kind: "generated", jobs: "40", load: "1.2", pool: "p" }), "");
    const asked = { title: "T", request } as SimulationDetail;
    expect(draftOf(asked)).toMatchObject({ title: "T", kind: "generated", jobs: 40, load: 1.2 });
    expect(askedInWords(asked)).toBe("40 poisson jobs at load 1.2 · pool p");
    expect(titleOf({ ...request.trace, kind: "uploaded" })).toBe("An uploaded workload");
  });

  it("keeps what the form does not ask about", () => {
    const made = wishOf(form({ kind: "generated", pool: "p" }), "");
    const request = { ...made, seed: 7, tick_seconds: 30, horizon_hours: 5 };
    const { others } = draftOf({ title: "T", request } as SimulationDetail);
    const again = wishOf(form({ kind: "generated", pool: "q" }), "", others);
    expect(again).toMatchObject({ seed: 7, tick_seconds: 30, horizon_hours: 5, pool: "q" });
  });

  it("is no file that holds nothing, too much, or no text", () => {
    expect(sizeProblem(0)).toContain("empty");
    expect(sizeProblem(50_000_000)).toContain("more than 512 KB");
    expect(sizeProblem(1000)).toBeNull();
    expect(contentProblem(" \n")).toContain("empty");
    expect(contentProblem("PK\0\ufffd")).toContain("no text");
    expect(contentProblem("id,submitted\n")).toBeNull();
  });

  it.each([
    [3_600_000, 0.05],
    [86_400_000, 1],
    [900 * 86_400_000, 90],
  ])("goes back for as long as somebody looks: %d ms are %d days", (ago, days) => {
    expect(daysSince(0, ago)).toBe(days);
  });
});

describe("what came out", () => {
  it("is written for people, and with nothing where there is nothing", () => {
    const figures = Object.fromEntries(FIGURES.map(({ title, shown }) => [title, shown(RUN)]));
    expect(figures).toMatchObject({
      Done: "38 of 40",
      "Mean time": "2 h",
      Makespan: "–",
      Used: "50 %",
      Efficiency: "–",
    });
  });

  it("is taken along as numbers", () => {
    expect(runsAsCsv([RUN])).toBe(
      "run,jobs,done,mean time,median,p99,mean wait,makespan,gpu-hours,used,efficiency,rescales,unfairness\n" +
        "static,40,38,7200,3600,86400,0,,12.5,0.5,,0,1.25\n",
    );
  });

  it("is drawn against the longest", () => {
    const runs = [
      RUN,
      { ...RUN, mean_completion_seconds: 3600 },
      { ...RUN, mean_completion_seconds: null },
    ];
    expect(barsOf(runs, "mean_completion_seconds")).toEqual([100, 50, null]);
    expect(barsOf(runs, "mean_wait_seconds")).toEqual([0, 0, 0]);
  });
});
