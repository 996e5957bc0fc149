/** How many jobs does a list show, whose are they, and are there more? */

import type { Job } from "../api/types";
import { formatCount, plural } from "./format";

export interface Listed {
  readonly jobs: readonly Job[];
  readonly hasMore: boolean; // beyond those that are shown
  readonly seesAll: boolean; // an admin; others see the jobs of their teams
}

export function countOfJobs({ jobs, hasMore, seesAll }: Listed): string {
  const count = hasMore ? `the newest ${formatCount(jobs.length)}` : plural(jobs.length, "job");
  return whose(count, seesAll);
}

/** Paused jobs stand in the queue's list, and wait for a person and not for GPUs. */
export function countInQueue({ jobs, hasMore, seesAll }: Listed): string {
  if (hasMore) return countOfJobs({ jobs, hasMore, seesAll });
  const paused = jobs.filter((job) => job.state === "paused").length;
  const waiting = `${formatCount(jobs.length - paused)} waiting`;
  return whose(paused > 0 ? `${waiting}, ${formatCount(paused)} paused` : waiting, seesAll);
}

function whose(count: string, seesAll: boolean): string {
  return seesAll ? count : `${count}, of your teams`;
}
