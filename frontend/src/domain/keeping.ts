/** What of a job goes when, in words. */

import type { Removal } from "../api/types";
import { humanise } from "./format";
import { absoluteDay, milliseconds } from "./time";

/** `Logs until 23 Feb 2027`, and so on; what goes with the job is left out. */
export function describeRemovals(removals: readonly Removal[]): string[] {
  const end = removals.find(({ part }) => part === "job")?.due_at ?? null;
  const parts = removals.filter(({ part }) => part !== "job").flatMap((one) => describe(one, end));
  return end === null ? parts : [...parts, `All of it until ${day(end)}`];
}

function describe({ part, due_at, removed_at }: Removal, end: string | null): string[] {
  if (removed_at !== null) return [`${humanise(part)} gone since ${day(removed_at)}`];
  return due_at === null || due_at === end ? [] : [`${humanise(part)} until ${day(due_at)}`];
}

function day(iso: string): string {
  return absoluteDay(milliseconds(iso));
}
