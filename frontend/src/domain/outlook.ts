/** What would become of a job if it were submitted now? One line of words. */

import type { GivesWay, Outlook } from "../api/types";
import { plural } from "./format";

export type OutlookTone = "good" | "warning" | "danger" | "neutral";

const MOST_NAMED = 3;

/** `Starts now on 2 workers, shrinks text-small to 1, done at about 15:40.` */
export function outlookInWords(
  outlook: Outlook,
  clock: (moment: string) => string,
): { readonly tone: OutlookTone; readonly text: string } {
  const parts = [beginning(outlook, clock), ...waysGiven(outlook.gives_way)];
  const end = outlook.finish?.p50;
  if (end != null) parts.push(`done at about ${clock(end)}`);
  return { tone: toneOf(outlook), text: `${parts.join(", ")}.` };
}

function toneOf({ action }: Outlook): OutlookTone {
  if (action === "start") return "good";
  if (action === "wait") return "warning";
  return action === "" ? "neutral" : "danger";
}

function beginning(outlook: Outlook, clock: (moment: string) => string): string {
  const { action, workers, start } = outlook;
  const where = outlook.pool ? ` in pool ${outlook.pool}` : "";
  if (action === "start") return `Starts now on ${plural(workers ?? 0, "worker")}${where}`;
  if (action === "wait") {
    const begins = start?.p50 == null ? "" : `, starts at about ${clock(start.p50)}`;
    return `Waits${where}${begins}`;
  }
  return action === "" ? "Nobody can tell what would become of it" : "Would be refused";
}

function waysGiven(all: readonly GivesWay[]): string[] {
  const told = all.slice(0, MOST_NAMED).map((one) => {
    const who = one.name ?? (one.team === null ? "jobs of other teams" : `a job of ${one.team}`);
    return one.workers_with === 0 ? `pauses ${who}` : `shrinks ${who} to ${one.workers_with}`;
  });
  const rest = all.length - told.length;
  return rest > 0 ? [...told, `and ${plural(rest, "more job")} give way`] : told;
}
