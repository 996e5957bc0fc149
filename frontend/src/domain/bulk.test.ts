import { describe, expect, it } from "vitest";

import { ApiError } from "../api/errors";
import type { Job } from "../api/types";
import { aJob } from "../testing/samples";
import { inBulk, sortedOut, statesOf, type BulkOutcome } from "./bulk";

const JOBS = ["a", "b", "c", "d", "e", "f", "g"].map((id) => aJob(id, { state: "running" }));

interface Tried {
  readonly outcomes: Record<string, string>;
  readonly waits: readonly number[];
  readonly most: number;
}

async function tried(
  act: (job: Job) => Promise<unknown>,
  isStopped: (done: number) => boolean = () => false,
): Promise<Tried> {
  const told: BulkOutcome[] = [];
  const waits: number[] = [];
  let now = 0;
  let most = 0;
  await inBulk(JOBS, {
    act: async (job) => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      now -= 1;
      await act(job);
    },
    tell: (outcome) => told.push(outcome),
    isStopped: () => isStopped(told.length),
    wait: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
  });
  expect(told).toHaveLength(JOBS.length);
  const outcomes = told.map(({ job, result, message }) => [job.id, message || result]);
  return { outcomes: Object.fromEntries(outcomes) as Record<string, string>, waits, most };
}

describe("one thing done to many jobs", () => {
  it("is done to a few at once, and each has its outcome", async () => {
    const { outcomes, most } = await tried(() => Promise.resolve());
    expect(new Set(Object.values(outcomes))).toEqual(new Set(["done"]));
    expect(most).toBeLessThanOrEqual(4);
  });

  it("goes on though one is refused, and says why", async () => {
    const { outcomes, waits } = await tried(({ id }) =>
      id === "b"
        ? Promise.reject(new ApiError(409, "illegal_transition", "It has ended."))
        : Promise.resolve(),
    );
    expect(outcomes.b).toBe("It has ended.");
    expect(outcomes.g).toBe("done");
    expect(waits).toEqual([]);
  });

  it("waits longer each time when it asked too often", async () => {
    let refusals = 2;
    const { outcomes, waits } = await tried(({ id }) =>
      id === "a" && refusals-- > 0
        ? Promise.reject(new ApiError(429, "too_many_requests", "Too many."))
        : Promise.resolve(),
    );
    expect(outcomes.a).toBe("done");
    expect(waits).toEqual([1000, 2000]);
  });

  it("gives up on a service that stays away, and says so of each job", async () => {
    const { outcomes } = await tried(() => Promise.reject(new TypeError("Failed to fetch")));
    for (const message of Object.values(outcomes)) expect(message).toContain("does not answer");
  });

  it("leaves the rest out once it is stopped", async () => {
    const { outcomes } = await tried(
      () => Promise.resolve(),
      (done) => done >= 2,
    );
    expect(outcomes.a).toBe("done");
    expect(outcomes.g).toBe("You stopped before it.");
  });
});

describe("what is chosen", () => {
  it("is told apart by what may be done with it", () => {
    const jobs = [aJob("a"), aJob("b", { state: "paused" }), aJob("c", { state: "running" })];
    const ids = (action: Parameters<typeof sortedOut>[1]) =>
      sortedOut(jobs, action).fit.map(({ id }) => id);
    expect(ids("pause")).toEqual(["c"]);
    expect(ids("resume")).toEqual(["b"]);
    expect(ids("cancel")).toEqual(["b", "c"]);
    expect(ids("label")).toEqual(["b", "c"]);
    expect(statesOf([...sortedOut(jobs, "pause").unfit, aJob("d")])).toBe("2 completed, 1 paused");
  });
});
