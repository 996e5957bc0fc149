/** Which parts of what is known does an event concern, so that they are asked for anew? */

import type { EventKind, FeedEvent } from "../api/types";

/** How the key of a query begins. */
export type Part = readonly string[];

/** What moves a job from one list to another; the rest is told on the job's own page. */
const MOVES: ReadonlySet<EventKind> = new Set<EventKind>([
  "submitted",
  "state_changed",
  "stop_requested",
  "terms_changed",
]);

export function concernedBy(events: readonly FeedEvent[]): Part[] {
  const parts = new Map<string, Part>();
  for (const { kind, job_id: job, team } of events) {
    const moved = [["jobs", "count"], ["sweeps"], ["node"], ["team", team, "schedules"]];
    for (const part of [["job", job], ...(MOVES.has(kind) ? moved : [])]) {
      parts.set(JSON.stringify(part), part);
    }
  }
  return [...parts.values()];
}

export function isConcerned(key: readonly unknown[], parts: readonly Part[]): boolean {
  return parts.some((part) => part.every((word, at) => key[at] === word));
}
