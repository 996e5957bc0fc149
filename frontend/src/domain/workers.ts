/** Where do a job's workers run? */

import type { Worker } from "../api/types";

export function goneWorkers(workers: readonly Worker[]): readonly Worker[] {
  return workers.filter((worker) => worker.phase === "gone").toReversed();
}

/** The workers that are there, by node, both in the order of their names. */
export function workersByNode(workers: readonly Worker[]): [node: string, workers: Worker[]][] {
  const byNode = new Map<string, Worker[]>();
  for (const worker of workers) {
    if (worker.phase === "gone") continue;
    byNode.set(worker.node, [...(byNode.get(worker.node) ?? []), worker]);
  }
  return [...byNode].toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
}
