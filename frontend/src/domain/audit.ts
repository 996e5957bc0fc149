/** Which entries of the audit log are asked for, and what did each change? */

import type { AuditEntry } from "../api/types";
import { dayOf, startOfDay } from "./days";

export const OUTCOMES: readonly AuditEntry["outcome"][] = ["done", "refused", "failed"];

/** All of it stands in the page's address; what is empty does not matter. */
export interface AuditFilter {
  readonly sender: string;
  readonly operation: string;
  readonly object: string;
  readonly team: string;
  readonly outcome: AuditEntry["outcome"] | "";
  readonly since: string; // a day, as in 2026-11-28
  readonly until: string; // the last day
}

export const EVERY_ENTRY: AuditFilter = {
  sender: "",
  operation: "",
  object: "",
  team: "",
  outcome: "",
  since: "",
  until: "",
};

/** What the service is asked for; what is not wished is not there. */
export type AuditQuery = Partial<Omit<AuditFilter, "outcome">> & {
  readonly outcome?: AuditEntry["outcome"];
};

/** As the service bounds them. */
const LONGEST: Readonly<Record<"sender" | "operation" | "object" | "team", number>> = {
  sender: 200,
  operation: 100,
  object: 300,
  team: 200,
};

/** What the address cannot mean is left out of it. */
export function filterOf(address: URLSearchParams): AuditFilter {
  const text = (name: keyof typeof LONGEST) =>
    (address.get(name) ?? "").trim().slice(0, LONGEST[name]);
  return {
    sender: text("sender"),
    operation: text("operation"),
    object: text("object"),
    team: text("team"),
    outcome: OUTCOMES.find((one) => one === address.get("outcome")) ?? "",
    since: dayOf(address.get("since") ?? ""),
    until: dayOf(address.get("until") ?? ""),
  };
}

export function addressOf(filter: AuditFilter): URLSearchParams {
  return new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ""));
}

export function countOfWishes(filter: AuditFilter): number {
  return Object.values(filter).filter((wish) => wish !== "").length;
}

export function queryOf({ outcome, since, until, ...texts }: AuditFilter): AuditQuery {
  const from = startOfDay(since);
  const to = startOfDay(until, 1);
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== "")),
    ...(outcome !== "" && { outcome }),
    ...(from !== null && { since: from }),
    ...(to !== null && { until: to }),
  };
}

export interface ChangedValue {
  readonly name: string;
  readonly before: string; // empty: there was none
  readonly after: string; // empty: there is none any more
}

/** What differs between before and after, by its names as the service has them. */
export function changedValues({
  before,
  after,
}: Pick<AuditEntry, "before" | "after">): readonly ChangedValue[] {
  const [was, is] = [valuesOf(before), valuesOf(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .map((name) => ({ name, before: written(was[name]), after: written(is[name]) }))
    .filter((one) => one.before !== one.after);
}

function valuesOf(values: unknown): Readonly<Record<string, unknown>> {
  return typeof values === "object" && values !== null ? { ...values } : {};
}

function written(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The page that shows what was changed; null: none does. */
export function pageOf(target: string): string | null {
  const [kind, name] = target.split("/");
  if (name === undefined || name === "") return null;
  if (kind === "jobs" && /^[0-9a-z]+$/.test(name)) return `/jobs/${name}`;
  return kind === "teams" ? `/teams/${encodeURIComponent(name)}` : null;
}
