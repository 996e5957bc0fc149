import { describe, expect, it } from "vitest";

import { aWorker } from "../testing/samples";
import { goneWorkers, workersByNode } from "./workers";

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

  it("that are gone come newest first", () => {
    expect(goneWorkers(workers).map((worker) => worker.id)).toEqual(["e", "c"]);
  });
});
