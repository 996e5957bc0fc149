/** One clock for all relative times: a single timer, however many are on screen. */

import { useSyncExternalStore } from "react";

const TICK_MILLISECONDS = 1000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: number | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now(); // the last tick was while somebody still looked
    timer = window.setInterval(tick, TICK_MILLISECONDS);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

/** The time in milliseconds, renewed every second. */
export function useNow(): number {
  const current = () => now;
  return useSyncExternalStore(subscribe, current, current);
}

const HOUR = 3_600_000; // milliseconds

/** The hour in which it is now, for what changes no more often. */
export function useTheHour(): number {
  const current = () => Math.floor(now / HOUR) * HOUR;
  return useSyncExternalStore(subscribe, current, current);
}

const MINUTE = 60_000; // milliseconds

/** When the minute ends in which it is now: what happened lately is before that. */
export function useEndOfMinute(): number {
  const current = () => (Math.floor(now / MINUTE) + 1) * MINUTE;
  return useSyncExternalStore(subscribe, current, current);
}
