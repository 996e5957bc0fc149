import { describe, expect, it } from "vitest";

import { aWaitingJob } from "../testing/samples";
import { inQueueOrder } from "./queue";

const ids = (jobs: readonly { id: string }[]) => jobs.map((job) => job.id);

describe("the queue", () => {
  it("stands by position, whoever came first", () => {
    const jobs = [aWaitingJob("early", 0), aWaitingJob("next", 9)];
    expect(
      ids(
        inQueueOrder(
          jobs,
          new Map([
            ["next", 1],
            ["early", 2],
          ]),
        ),
      ),
    ).toEqual(["next", "early"]);
  });

  it("puts jobs not planned yet behind, in order of submission, and paused ones last", () => {
    const jobs = [
      aWaitingJob("paused-late", 8, "paused"),
      aWaitingJob("paused-early", 1, "paused"),
      aWaitingJob("new-late", 7),
      aWaitingJob("new-early", 6),
      aWaitingJob("planned", 9),
    ];
    expect(ids(inQueueOrder(jobs, new Map([["planned", 1]])))).toEqual([
      "planned",
      "new-early",
      "new-late",
      "paused-early",
      "paused-late",
    ]);
  });
});
