/** How long ago was it, and when exactly? */

import { formatDuration } from "./format";

const absolute = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

export function milliseconds(iso: string): number {
  return Date.parse(iso);
}

/** `just now`, `42 s ago`, `3 min ago`, `in 2 h`: one unit is enough for a glance. */
export function relativeTime(at: number, now: number): string {
  const seconds = (now - at) / 1000;
  const amount = roughDuration(Math.abs(seconds));
  if (amount === null) return "just now";
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}

function roughDuration(seconds: number): string | null {
  if (seconds < 5) return null;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function absoluteTime(at: number): string {
  return absolute.format(at);
}

/** `23 Feb 2027`. */
export function absoluteDay(at: number): string {
  return date.format(at);
}

export function clockTime(at: number): string {
  return clock.format(at);
}

/** In a column of moments: `14:03` of today, `21 Nov, 14:03` of this year, else `21 Nov 2025`. */
export function momentInList(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  if (then.toDateString() === today.toDateString()) return minute.format(at);
  if (then.getFullYear() !== today.getFullYear()) return date.format(at);
  return `${day.format(at)}, ${minute.format(at)}`;
}

/** Axis labels: the time of day within a day, the date beyond it. */
export function axisTime(at: number, spanMilliseconds: number): string {
  if (spanMilliseconds <= 10 * 60_000) return clock.format(at);
  return spanMilliseconds <= 36 * 3_600_000 ? minute.format(at) : day.format(at);
}

/** Seconds between two moments as text; an open end counts up to `now`. */
export function durationBetween(from: string, to: string | null, now: number): string {
  const end = to === null ? now : milliseconds(to);
  return formatDuration(Math.max(0, (end - milliseconds(from)) / 1000));
}
