/** Where do a job's workers run, and how fast is each? */

import type { Worker } from "../api/types";
import { formatMetric, NONE } from "./format";

/** `100 %` is the median of the job's workers. */
export function describeSpeed(worker: Worker): string {
  const speed = worker.relative_speed;
  return speed === null ? NONE : `${Math.round(speed * 100)} %`;
}

/** Whether anything is known of the GPUs: a CPU has neither column. */
export function knowsGpus(workers: readonly Worker[]): boolean {
  return workers.some(
    (worker) => worker.gpu_utilisation !== null || worker.gpu_memory_bytes !== null,
  );
}

/** `9.1 of 16 GiB`. */
export function describeMemory(worker: Worker): string {
  const { gpu_memory_bytes: used, gpu_memory_total_bytes: total } = worker;
  if (used === null) return NONE;
  return total === null
    ? `${gibibytes(used)} GiB`
    : `${gibibytes(used)} of ${gibibytes(total)} GiB`;
}

function gibibytes(bytes: number): string {
  return formatMetric(bytes / 2 ** 30);
}

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
