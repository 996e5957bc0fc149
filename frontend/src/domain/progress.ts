/** How far is a job, and how fast? Of one that has ended: how far did it come, and how fast was it? */

import type { Job } from "../api/types";
import { formatCount, formatPercent, NONE } from "./format";
import { isFinal } from "./states";

export function progressInWords(
  job: Pick<Job, "state" | "progress" | "step" | "mode" | "started_at">,
): string {
  if (job.progress !== null) return formatPercent(job.progress);
  if (job.step > 0) return "Length not known";
  const reportsSteps = job.mode !== "restart" && job.mode !== "fixed";
  if (job.started_at !== null && !reportsSteps) return "Progress not reported";
  return isFinal(job.state) ? "Never trained" : "Not begun";
}

/** True once it trains, as far as one knows of a plain script: before, there is only why not. */
export function hasBegun(job: Pick<Job, "state" | "generation" | "started_at">): boolean {
  return job.generation > 0 || (job.started_at !== null && job.state !== "failed");
}

export interface Speed {
  readonly value: string;
  readonly note: string;
}

/** Of now while it lives; on average over all its training once it has ended. */
export function speedOf(
  job: Pick<Job, "state" | "samples" | "samples_per_second" | "trained_seconds">,
): Speed {
  if (!isFinal(job.state)) {
    return { value: formatCount(Math.round(job.samples_per_second)), note: "samples/s" };
  }
  if (job.trained_seconds <= 0 || job.samples === 0) return { value: NONE, note: "samples/s" };
  const mean = job.samples / job.trained_seconds;
  return {
    value: formatCount(Math.round(mean)),
    note: `samples/s on average, ${formatCount(job.samples)} in all`,
  };
}
