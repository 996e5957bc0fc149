/** For how long is a part of ended jobs kept, in words, and what does a filled-in form change? */

import type { KeptPart, RetentionChanges } from "../api/types";
import { plural } from "./format";
import { text } from "./secrets";

/** What goes; the API's words are single ones. */
export const WHAT_IS_KEPT: Record<KeptPart["part"], string> = {
  curves: "Curves",
  logs: "Logs",
  checkpoints: "Checkpoints",
  outputs: "Outputs",
  code: "Code",
};

/** Days; none stand for ever. */
export function lasting(days: number): string {
  return days === 0 ? "for ever" : plural(days, "day");
}

/** What admins let a team choose; empty where it may choose anything. */
export function bounds({ least_days, most_days }: KeptPart): string {
  const least = least_days ?? 0;
  if (most_days === null) return least > 0 ? `at least ${plural(least, "day")}` : "";
  if (least === 0) return `at most ${plural(most_days, "day")}`;
  return `${least.toString()} to ${plural(most_days, "day")}`;
}

export function choiceOf({ days }: KeptPart): string {
  if (days === null) return "usual";
  return days === 0 ? "ever" : "days";
}

/** Bounds are there for admins alone; an empty one is none. */
export function changesOf(form: FormData): RetentionChanges {
  const changes: RetentionChanges = { days: daysOf(form) };
  if (form.has("least_days")) changes.least_days = numberOf(form, "least_days");
  if (form.has("most_days")) changes.most_days = numberOf(form, "most_days");
  return changes;
}

function daysOf(form: FormData): number | null {
  const choice = text(form, "choice");
  if (choice === "usual") return null;
  return choice === "ever" ? 0 : numberOf(form, "days");
}

function numberOf(form: FormData, name: string): number | null {
  const typed = text(form, name).trim();
  return typed === "" ? null : Number(typed);
}
