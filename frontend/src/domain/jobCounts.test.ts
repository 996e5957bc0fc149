import { describe, expect, it } from "vitest";

import { aWaitingJob } from "../testing/samples";
import { countInQueue, countOfJobs } from "./jobCounts";

const ALL = { hasMore: false, seesAll: true };

describe("the number of jobs in a list", () => {
  it("is that of all jobs for an admin, and else says whose they are", () => {
    expect(countOfJobs({ ...ALL, jobs: [aWaitingJob("a", 0)] })).toBe("1 job");
    expect(countOfJobs({ ...ALL, jobs: [], seesAll: false })).toBe("0 jobs, of your teams");
  });

  it("says that there are more than are shown", () => {
    expect(
      countOfJobs({ ...ALL, jobs: [aWaitingJob("a", 0), aWaitingJob("b", 1)], hasMore: true }),
    ).toBe("the newest 2");
    expect(countInQueue({ ...ALL, jobs: [aWaitingJob("a", 0)], hasMore: true })).toBe(
      "the newest 1",
    );
  });

  it("tells paused jobs from those that wait for GPUs", () => {
    const jobs = [aWaitingJob("a", 0), aWaitingJob("b", 1, "paused")];
    expect(countInQueue({ ...ALL, jobs })).toBe("1 waiting, 1 paused");
    expect(countInQueue({ ...ALL, jobs: jobs.slice(0, 1), seesAll: false })).toBe(
      "1 waiting, of your teams",
    );
  });
});
