/** What is said of tokens of teams and of people, and what is asked when one is made? */

import type { PersonalTokenWish, Token, TokenRotation, TokenWish } from "../api/types";
import { text } from "./secrets";

export type Scope = NonNullable<Token["scopes"]>[number];

const MEANINGS: Readonly<Record<Scope, string>> = {
  read: "see jobs and what they leave",
  submit: "submit jobs and upload code",
  "manage-jobs": "change and delete jobs, and name models",
  "manage-team": "set secrets, upload data, say for how long jobs are kept",
  admin: "whatever an admin may do",
};

export interface ScopeWords {
  readonly scope: Scope;
  readonly meaning: string;
}

const ALL = Object.entries(MEANINGS).map(([scope, meaning]) => ({
  scope: scope as Scope,
  meaning,
}));

/** Those of a team's token. */
export const SCOPES: readonly ScopeWords[] = ALL.filter(({ scope }) => scope !== "admin");

/** Those of a personal token. */
export function ownScopes(isAdmin: boolean): readonly ScopeWords[] {
  return ALL.filter(({ scope }) => scope !== "admin" || isAdmin).map((one) =>
    one.scope === "manage-team"
      ? { ...one, meaning: "do what leads do: members, tokens, webhooks, quotas, secrets, data" }
      : one,
  );
}

/** What a token's row tells, of a team's or of a person's. */
export type ListedToken = Omit<Token, "created_by"> & Partial<Pick<Token, "created_by">>;

const DAY = 86_400_000; // milliseconds
const SOON_DAYS = 14;

/** Whether somebody should rotate it now, lest its programs stop. */
export function endsSoon(token: ListedToken, now: number): boolean {
  if (token.state !== "valid" || token.expires_at === null) return false;
  return Date.parse(token.expires_at) - now < SOON_DAYS * DAY;
}

export interface Lifetime {
  /** As a field's value; empty: it never expires. */
  readonly value: string;
  readonly text: string;
}

const USUAL_DAYS = 90;

/** For how long a token may be made, the usual time marked by being the second value. */
export function lifetimes(
  longestDays: number,
  isAdmin: boolean,
): { readonly offered: readonly Lifetime[]; readonly usual: string } {
  const days = [7, 30, USUAL_DAYS, 180, 365].filter((one) => isAdmin || one <= longestDays);
  const all = isAdmin || days.includes(longestDays) ? days : [...days, longestDays];
  const offered = all.map((one) => ({
    value: String(one),
    text: one === 1 ? "1 day" : `${one} days`,
  }));
  const usual = String(Math.min(USUAL_DAYS, isAdmin ? USUAL_DAYS : longestDays));
  return { offered: isAdmin ? [...offered, { value: "", text: "never" }] : offered, usual };
}

/** How long the former key opens, in hours. */
export const OVERLAPS: readonly { readonly hours: number; readonly text: string }[] = [
  { hours: 0, text: "not at all: it is revoked at once" },
  { hours: 1, text: "1 hour" },
  { hours: 24, text: "24 hours" },
  { hours: 168, text: "7 days" },
  { hours: 720, text: "30 days" },
];
export const USUAL_OVERLAP_HOURS = 24;

/** What a form says of the jobs that a token reaches: names of pools, and labels as `name=value`. */
function boundsIn(form: FormData): Pick<TokenWish, "pools" | "labels"> {
  const pools = wordsOf(text(form, "pools"));
  const labels = wordsOf(text(form, "labels")).map((word): [string, string] => {
    const place = word.indexOf("=");
    return place < 0 ? [word, ""] : [word.slice(0, place), word.slice(place + 1)];
  });
  return {
    pools: pools.length > 0 ? pools : null,
    labels: labels.length > 0 ? Object.fromEntries(labels) : null,
  };
}

function wordsOf(typed: string): string[] {
  return typed.split(/[\s,]+/).filter((word) => word !== "");
}

/** To which jobs a token is limited, as words for its row; none: to no jobs in particular. */
export function boundsOf(token: ListedToken): readonly string[] {
  const pools = token.pools ?? [];
  return [
    ...(pools.length > 0 ? [`pool ${pools.join(" or ")}`] : []),
    ...Object.entries(token.labels ?? {}).map(([name, value]) => `${name}=${value}`),
  ];
}

export function wishOf(form: FormData): TokenWish {
  const named = new Set(form.getAll("scope"));
  const scopes = SCOPES.map(({ scope }) => scope).filter((scope) => named.has(scope));
  return {
    name: text(form, "name").trim(),
    days: daysIn(form),
    scopes: text(form, "may") === "all" ? null : scopes,
    ...boundsIn(form),
  };
}

export function ownWishOf(form: FormData): PersonalTokenWish {
  const named = new Set(form.getAll("scope"));
  return {
    name: text(form, "name").trim(),
    days: daysIn(form),
    scopes: ALL.map(({ scope }) => scope).filter((scope) => named.has(scope)),
    ...boundsIn(form),
  };
}

export function rotationOf(form: FormData): TokenRotation {
  return { days: daysIn(form), overlap_hours: Number(text(form, "overlap")) };
}

function daysIn(form: FormData): number | null {
  const days = text(form, "days");
  return days === "" ? null : Number(days);
}

/** Where a token's row tells of its last use: when stands beside it. */
export function usedFrom(token: ListedToken): string {
  return token.last_used_from === "" ? "" : ` from ${token.last_used_from}`;
}
