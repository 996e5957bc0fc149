/** How did a job's workers and batch change, when, and why? */

import type { Generation } from "../api/types";
import { milliseconds } from "./time";

export type ChangeKind = "start" | "grow" | "shrink" | "batch" | "regroup";

type Restart = NonNullable<Generation["restart"]>;

/** The step from one generation to the next. */
export interface Change {
  readonly generation: number;
  readonly at: number;
  readonly kind: ChangeKind;
  readonly workersBefore: number;
  readonly workers: number;
  readonly batchBefore: number | null;
  readonly batch: number;
  readonly reason: Generation["reason"];
  readonly message: string;
  readonly stallSeconds: number;
  readonly idleSeconds: number;
  readonly transferSeconds: number;
  readonly lostSteps: number;
  readonly lostWorkSeconds: number;
  readonly lostWorkers: readonly string[];
  /** Of a script that reports nothing, as far as its log tells. */
  readonly restart: Restart | null;
  readonly attempt: number;
  readonly predictedGain: number | null;
  readonly measuredGain: number | null;
}

/** How many workers an ended job had, on average over its generations; null: it had none. */
export function workersOnAverage(course: readonly Generation[]): number | null {
  let [time, workerTime] = [0, 0];
  for (const { began_at: from, ended_at: to, workers } of course) {
    const lasted = to === null ? 0 : Math.max(0, milliseconds(to) - milliseconds(from));
    time += lasted;
    workerTime += workers * lasted;
  }
  return time > 0 ? workerTime / time : null;
}

/** A point of a step line: from `at` on the value holds. */
export type StepPoint = readonly [at: number, value: number | null];

/** Longer pauses than this between two generations mean that nothing trained. In milliseconds. */
const IDLE_GAP = 1500;

export function changesOf(generations: readonly Generation[]): Change[] {
  return generations.map((generation, index) => {
    const before = index === 0 ? undefined : generations[index - 1];
    const isContinued = before !== undefined && !isIdleBetween(before, generation);
    const workersBefore = isContinued ? before.workers : 0;
    const batchBefore = before?.global_batch_size ?? null;
    return {
      generation: generation.number,
      at: milliseconds(generation.began_at),
      kind: kindOf(workersBefore, generation.workers, batchBefore, generation.global_batch_size),
      workersBefore,
      workers: generation.workers,
      batchBefore,
      batch: generation.global_batch_size,
      reason: generation.reason,
      message: generation.message,
      stallSeconds: generation.stall_seconds,
      idleSeconds: generation.idle_seconds,
      transferSeconds: generation.transfer_seconds,
      lostSteps: generation.lost_steps,
      lostWorkSeconds: generation.lost_work_seconds,
      lostWorkers: generation.lost_worker_ids,
      restart: generation.restart,
      attempt: generation.attempt,
      predictedGain: generation.predicted_gain,
      measuredGain: generation.measured_gain,
    };
  });
}

function kindOf(
  workersBefore: number,
  workers: number,
  batchBefore: number | null,
  batch: number,
): ChangeKind {
  if (workersBefore === 0) return "start";
  if (workers > workersBefore) return "grow";
  if (workers < workersBefore) return "shrink";
  return batch === batchBefore ? "regroup" : "batch";
}

function isIdleBetween(before: Generation, after: Generation): boolean {
  if (before.ended_at === null) return false;
  return milliseconds(after.began_at) - milliseconds(before.ended_at) > IDLE_GAP;
}

export function workerSteps(generations: readonly Generation[], now: number): StepPoint[] {
  return steps(generations, now, (generation) => generation.workers, 0);
}

export function batchSteps(generations: readonly Generation[], now: number): StepPoint[] {
  return steps(generations, now, (generation) => generation.global_batch_size, null);
}

function steps(
  generations: readonly Generation[],
  now: number,
  valueOf: (generation: Generation) => number,
  idleValue: number | null,
): StepPoint[] {
  const points: StepPoint[] = [];
  generations.forEach((generation, index) => {
    const next = generations[index + 1];
    points.push([milliseconds(generation.began_at), valueOf(generation)]);
    if (next !== undefined && isIdleBetween(generation, next)) {
      points.push([milliseconds(generation.ended_at ?? next.began_at), idleValue]);
    }
    if (next === undefined) points.push([endOf(generation, now), valueOf(generation)]);
  });
  return points;
}

function endOf(generation: Generation, now: number): number {
  return generation.ended_at === null
    ? Math.max(now, milliseconds(generation.began_at))
    : milliseconds(generation.ended_at);
}

const arrow = "→";

/** `2 → 3 workers`, `batch 64 → 128`, or both, in words for lists and screen readers. */
export function describeChange(change: Change): string {
  if (change.kind === "start") {
    return `Started with ${workersWord(change.workers)}, batch ${change.batch}`;
  }
  if (change.reason === "straggler") return `1 of ${workersWord(change.workers)} swapped`;
  const parts: string[] = [];
  if (change.workersBefore !== change.workers) {
    parts.push(`${change.workersBefore} ${arrow} ${workersWord(change.workers)}`);
  }
  if (change.batchBefore !== null && change.batchBefore !== change.batch) {
    parts.push(`batch ${change.batchBefore} ${arrow} ${change.batch}`);
  }
  return parts.length > 0 ? parts.join(", ") : `New group of ${workersWord(change.workers)}`;
}

function workersWord(workers: number): string {
  return `${workers} worker${workers === 1 ? "" : "s"}`;
}
