/** Which jobs does somebody look for? All of it stands in the page's address, to be kept and sent. */

import { dayOf, startOfDay } from "./days";
import { STATES, type State } from "./states";

/** `recent`: those that have not ended come before those that ended last. */
export type JobOrder = "recent" | "submitted";
export type Within = "" | "24h" | "7d" | "30d";

export interface JobFilter {
  readonly states: readonly State[]; // none: all
  readonly team: string;
  readonly user: string;
  readonly pool: string;
  readonly array: string; // its id or its name
  readonly labels: readonly string[]; // `NAME=VALUE`, or `NAME`
  readonly search: string;
  readonly within: Within; // before now; instead of the days
  readonly since: string; // a day, as in 2026-11-28
  readonly until: string; // the last day
  readonly order: JobOrder;
}

/** What the service is asked for; what is not wished is not there. */
export interface JobQuery {
  readonly order: JobOrder;
  readonly state?: string;
  readonly team?: string;
  readonly user?: string;
  readonly pool?: string;
  readonly array?: string;
  readonly label?: string[];
  readonly search?: string;
  readonly since?: string;
  readonly until?: string;
}

export const EVERY_JOB: JobFilter = {
  states: [],
  team: "",
  user: "",
  pool: "",
  array: "",
  labels: [],
  search: "",
  within: "",
  since: "",
  until: "",
  order: "recent",
};

/** As the service bounds them. */
const MOST_LABELS = 8;
const LONGEST_TEXT = 200;

const HOURS: Readonly<Record<Exclude<Within, "">, number>> = { "24h": 24, "7d": 168, "30d": 720 };
const MINUTE = 60_000;

/** What the address cannot mean is left out of it. */
export function filterOf(address: URLSearchParams): JobFilter {
  const text = (name: string) => (address.get(name) ?? "").trim().slice(0, LONGEST_TEXT);
  const named = new Set(text("state").split(","));
  const within = text("within");
  return {
    states: STATES.filter((state) => named.has(state)),
    team: text("team"),
    user: text("user"),
    pool: text("pool"),
    array: text("array"),
    labels: address.getAll("label").filter(isLabel).slice(0, MOST_LABELS),
    search: text("search"),
    within: isWithin(within) ? within : "",
    since: dayOf(text("since")),
    until: dayOf(text("until")),
    order: text("order") === "submitted" ? "submitted" : EVERY_JOB.order,
  };
}

/** The address with this filter; its other parameters stay. */
export function addressOf(filter: JobFilter, address: URLSearchParams): URLSearchParams {
  const written = new URLSearchParams(address);
  const { states, labels, order, ...texts } = filter;
  const values = {
    ...texts,
    state: states.join(","),
    order: order === EVERY_JOB.order ? "" : order,
  };
  for (const [name, value] of Object.entries(values)) {
    if (value === "") written.delete(name);
    else written.set(name, value);
  }
  written.delete("label");
  for (const label of labels) written.append("label", label);
  return written;
}

export function withLabel(filter: JobFilter, label: string): JobFilter {
  if (!isLabel(label) || filter.labels.includes(label)) return filter;
  return { ...filter, labels: [...filter.labels, label].slice(-MOST_LABELS) };
}

/** How many wishes there are; the order is none. */
export function countOfWishes(filter: JobFilter): number {
  const { states, team, user, pool, array, labels, search } = filter;
  const single = [team, user, pool, array, search, filter.within, filter.since, filter.until];
  return single.filter((wish) => wish !== "").length + labels.length + (states.length > 0 ? 1 : 0);
}

export function queryOf(filter: JobFilter, now: number): JobQuery {
  const { states, team, user, pool, array, labels, search, order } = filter;
  const { since, until } = momentsOf(filter, now);
  return {
    order,
    ...(states.length > 0 && { state: states.join(",") }),
    ...(team !== "" && { team }),
    ...(user !== "" && { user }),
    ...(pool !== "" && { pool }),
    ...(array !== "" && { array }),
    ...(labels.length > 0 && { label: [...labels] }),
    ...(search !== "" && { search }),
    ...(since !== null && { since }),
    ...(until !== null && { until }),
  };
}

function momentsOf(
  { within, since, until }: JobFilter,
  now: number,
): { since: string | null; until: string | null } {
  if (within !== "") {
    const minute = Math.floor(now / MINUTE) * MINUTE;
    return { since: new Date(minute - HOURS[within] * 60 * MINUTE).toISOString(), until: null };
  }
  return { since: startOfDay(since), until: startOfDay(until, 1) };
}

export function isLabel(text: string): boolean {
  return text !== "" && !text.startsWith("=") && text.length <= LONGEST_TEXT;
}

function isWithin(text: string): text is Exclude<Within, ""> {
  return text in HOURS;
}
