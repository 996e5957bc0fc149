import { describe, expect, it } from "vitest";

import type { Job } from "../api/types";
import { aWaitingJob } from "../testing/samples";
import { inQueueOrder } from "./queue";

const ids = (jobs: readonly { id: string }[]) => jobs.map((job) => job.id);
const standing = (job: Job, position: number): Job => ({ ...job, position });

describe("the queue", () => {
  it("stands by position, whoever came first", () => {
    const jobs = [standing(aWaitingJob("early", 0), 2), standing(aWaitingJob("next", 9), 1)];
    expect(ids(inQueueOrder(jobs))).toEqual(["next", "early"]);
  });

  it("puts jobs not planned yet behind, in order of submission, and paused ones last", () => {
    const jobs = [
      aWaitingJob("paused-late", 8, "paused"),
      aWaitingJob("paused-early", 1, "paused"),
      aWaitingJob("new-late", 7),
      aWaitingJob("new-early", 6),
      standing(aWaitingJob("planned", 9), 1),
    ];
    expect(ids(inQueueOrder(jobs))).toEqual([
      "planned",
      "new-early",
      "new-late",
      "paused-early",
      "paused-late",
    ]);
  });
});
