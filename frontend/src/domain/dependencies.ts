/** For which jobs does a job wait, and which wait for it, in words? */

import type { Dependency, JobDependencies } from "../api/types";

const TO_END = { ok: "to complete", any: "to end", failed: "to fail" } as const;

/** What is to become of a job that is waited for. */
export function endOf(one: Dependency): string {
  return TO_END[one.when];
}

/** How a job stands that is not there any more. */
export function goneOf(one: Dependency): string {
  return one.ended_as === "" ? "deleted" : `deleted, ${one.ended_as}`;
}

export function hasDependencies(known: JobDependencies | undefined): known is JobDependencies {
  return known !== undefined && known.waits_for.length + known.awaited_by.length > 0;
}

/** How many wait for it beside those that are named. */
export function moreThatWait(known: JobDependencies): number {
  return known.awaited_by_total - known.awaited_by.length;
}
