/** What happened to a job, for people: changes that belong together are one. */

import type { JobEvent } from "../api/types";
import { eventLabel } from "./reasons";

/** Of one cause: the first event of it, and the states that the job went through. */
export interface Happening {
  readonly first: JobEvent;
  readonly title: string;
}

/** The newest first; a change that goes on where the one before it ended, for its cause, joins it. */
export function happeningsOf(events: readonly JobEvent[]): Happening[] {
  const found: { readonly first: JobEvent; readonly states: string[] }[] = [];
  for (const event of events) {
    const last = found.at(-1);
    if (last !== undefined && goesOn(last.first, last.states, event)) {
      last.states.push(event.new_state);
    } else {
      found.push({ first: event, states: statesOf(event) });
    }
  }
  return found
    .map(({ first, states }) => ({
      first,
      title: states.length === 0 ? eventLabel(first.kind) : states.join(" → "),
    }))
    .toReversed();
}

function goesOn(first: JobEvent, states: readonly string[], event: JobEvent): boolean {
  const isSameCause = event.reason === first.reason && event.message === first.message;
  return isSameCause && event.new_state !== "" && states.at(-1) === event.old_state;
}

function statesOf({ old_state: before, new_state: after }: JobEvent): string[] {
  return [before, after].filter((state) => state !== "");
}
