/** What did a job's changes cost it? In words, for one change and for all together. */

import type { Job } from "../api/types";
import type { Change } from "./changes";
import { formatDuration, formatStep, NONE, plural } from "./format";

const NOT_KNOWN = "not known";

/** `2.1 s standing still in all (0.4 %)`. */
export function describeStalls(job: Job): string {
  const stood = `${formatDuration(job.stall_seconds)} standing still in all`;
  if (job.trained_seconds <= 0) return stood;
  return `${stood} (${shareInWords(job.stall_seconds / job.trained_seconds)})`;
}

/** Small shares matter here: `0.04 %`, `0.4 %`, `12 %`. */
function shareInWords(share: number): string {
  const percent = share * 100;
  const digits = percent === 0 || percent >= 10 ? 0 : percent >= 0.1 ? 1 : 2;
  return `${percent.toFixed(digits)} %`;
}

/** Empty for a job that never had to go back to a checkpoint. */
export function describeLostWork(job: Job): string {
  const seconds = job.lost_work_seconds;
  return seconds > 0 ? `${formatDuration(seconds)} of work made again` : "";
}

/** A dash where a change cost nothing of the kind. */
export function costOf(seconds: number): string {
  if (seconds <= 0) return NONE;
  return seconds < 0.01 ? formatStep(seconds) : formatDuration(seconds);
}

/** Empty where one generation followed the other at once. */
export function describeIdle(change: Change): string {
  if (change.idleSeconds < 0.1) return "";
  return `Nothing trained for ${formatDuration(change.idleSeconds)} before`;
}

/** What a change kept from training; a dash where nobody trained before. */
export function stallOf(change: Change): string {
  if (change.restart !== null) {
    const { seconds } = change.restart;
    return seconds === null ? NOT_KNOWN : `about ${formatDuration(seconds)}`;
  }
  return change.kind === "start" ? NONE : costOf(change.stallSeconds);
}

/** `30 s (60 steps)`: what was made before and is made again. */
export function lostWorkOf(change: Change): string {
  if (change.restart !== null) {
    const seconds = change.restart.repeated_seconds;
    if (seconds === null) return NOT_KNOWN;
    return seconds === 0 ? "none seen" : `at least ${formatDuration(seconds)}`;
  }
  if (change.lostSteps === 0) return NONE;
  return `${formatDuration(change.lostWorkSeconds)} (${plural(change.lostSteps, "step")})`;
}
