/** In which order do waiting jobs stand? By place in their pool's queue; paused ones last. */

import type { Job } from "../api/types";

export function inQueueOrder(jobs: readonly Job[]): readonly Job[] {
  const place = (job: Job) => (job.state === "paused" ? Infinity : (job.position ?? 1e6));
  return jobs.toSorted(
    (a, b) => difference(place(a), place(b)) || a.submitted_at.localeCompare(b.submitted_at),
  );
}

/** `Infinity - Infinity` is no order. */
function difference(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
