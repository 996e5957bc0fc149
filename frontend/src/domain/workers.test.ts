import { describe, expect, it } from "vitest";

import { aWorker } from "../testing/samples";
import { describeMemory, describeSpeed, goneWorkers, knowsGpus, workersByNode } from "./workers";

describe("workers", () => {
  const workers = [
    aWorker("a", { node: "node-10" }),
    aWorker("b", { node: "node-2" }),
    aWorker("c", { phase: "gone" }),
    aWorker("d", { node: "node-10" }),
    aWorker("e", { phase: "gone" }),
  ];

  it("stand by node, without those that are gone", () => {
    expect(
      workersByNode(workers).map(([node, present]) => [node, present.map((w) => w.id)]),
    ).toEqual([
      ["node-2", ["b"]],
      ["node-10", ["a", "d"]],
    ]);
  });

  it("are as fast as the median, or slower, or not measured yet", () => {
    expect(describeSpeed(aWorker("a", { relative_speed: 0.6 }))).toBe("60 %");
    expect(describeSpeed(aWorker("a"))).toBe("–");
  });

  it("have GPUs to tell of where one is measured", () => {
    const memory = { gpu_memory_bytes: 3 * 2 ** 29, gpu_memory_total_bytes: 2 ** 34 };
    expect(knowsGpus(workers)).toBe(false);
    expect(knowsGpus([...workers, aWorker("f", memory)])).toBe(true);
    expect(describeMemory(aWorker("f", memory))).toBe("1.5 of 16 GiB");
    expect(describeMemory(aWorker("f"))).toBe("–");
  });

  it("that are gone come newest first", () => {
    expect(goneWorkers(workers).map((worker) => worker.id)).toEqual(["e", "c"]);
  });
});
