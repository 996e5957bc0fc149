import { describe, expect, it } from "vitest";

import { aGeneration, at } from "../testing/samples";
import { batchSteps, changesOf, describeChange, workersOnAverage, workerSteps } from "./changes";
import { milliseconds } from "./time";

const ms = (seconds: number) => milliseconds(at(seconds));

const grown = [
  aGeneration(1, { workers: 1, began_at: at(0), ended_at: at(10) }),
  aGeneration(2, {
    workers: 3,
    global_batch_size: 192,
    began_at: at(10),
    reason: "job_finished",
    stall_seconds: 0.04,
  }),
];
const paused = [
  aGeneration(1, { workers: 2, began_at: at(0), ended_at: at(10) }),
  aGeneration(2, { workers: 2, began_at: at(40) }),
];

describe("changes", () => {
  it("carry what was before, what is now, and what it cost", () => {
    const [start, grow] = changesOf(grown);
    expect(start).toMatchObject({ kind: "start", workersBefore: 0, workers: 1 });
    expect(grow).toMatchObject({
      kind: "grow",
      workersBefore: 1,
      workers: 3,
      batchBefore: 64,
      batch: 192,
      stallSeconds: 0.04,
    });
  });

  it("after a pause are a start, not a change of nothing", () => {
    expect(changesOf(paused).map((change) => change.kind)).toEqual(["start", "start"]);
  });

  it("tell a new batch from a new group of the same size", () => {
    const generations = [
      aGeneration(1, { ended_at: at(5) }),
      aGeneration(2, { began_at: at(5), ended_at: at(9), global_batch_size: 128 }),
      aGeneration(3, { began_at: at(9), global_batch_size: 128 }),
    ];
    expect(changesOf(generations).map((change) => change.kind)).toEqual([
      "start",
      "batch",
      "regroup",
    ]);
  });

  it("read as sentences", () => {
    expect(changesOf(grown).map(describeChange)).toEqual([
      "Started with 1 worker, batch 64",
      "1 → 3 workers, batch 64 → 192",
    ]);
  });
});

describe("a swapped worker", () => {
  it("reads as what it is, not as a new group", () => {
    const swapped = aGeneration(2, { workers: 3, began_at: at(5), reason: "straggler" });
    const [, change] = changesOf([aGeneration(1, { workers: 3, ended_at: at(5) }), swapped]);
    expect(change && describeChange(change)).toBe("1 of 3 workers swapped");
  });
});

describe("the steps of the timeline", () => {
  it("hold each number of workers until the next, and the last until now", () => {
    expect(workerSteps(grown, ms(20))).toEqual([
      [ms(0), 1],
      [ms(10), 3],
      [ms(20), 3],
    ]);
  });

  it("fall to no workers while the job was paused, and the batch has a gap there", () => {
    expect(workerSteps(paused, ms(50))).toEqual([
      [ms(0), 2],
      [ms(10), 0],
      [ms(40), 2],
      [ms(50), 2],
    ]);
    expect(batchSteps(paused, ms(50))[1]).toEqual([ms(10), null]);
  });

  it("end where the last generation ended, not now, once the job is over", () => {
    const ended = [aGeneration(1, { ended_at: at(30) })];
    expect(workerSteps(ended, ms(999)).at(-1)).toEqual([ms(30), 1]);
  });
});

describe("workers on average", () => {
  it("count for as long as each generation lasted", () => {
    const course = [
      aGeneration(1, { workers: 1, began_at: at(0), ended_at: at(30) }),
      aGeneration(2, { workers: 4, began_at: at(50), ended_at: at(60) }),
      aGeneration(3, { workers: 2, began_at: at(60), ended_at: null }),
    ];
    expect(workersOnAverage(course)).toBe(1.75);
  });

  it("are not known of a job that never trained", () => {
    expect(workersOnAverage([])).toBeNull();
  });
});
