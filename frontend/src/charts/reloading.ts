/** May the page be loaded again because a part of its code did not come?
 *
 * A browser remembers for as long as a page is open that a module failed, so asking for it once more is
 * in vain. A page that is loaded again asks anew. What is counted outlives the page in its session.
 */

export interface Reloads {
  readonly count: number;
  /** When the last of them was, in milliseconds. */
  readonly at: number;
}

const KEY = "concertina.reloads";
const MOST = 5;
const FORGOTTEN_AFTER = 300_000; // milliseconds
const FIRST_WAIT = 1000; // milliseconds; each further one is twice as long

/** The milliseconds until the page is loaded again, or null if it was often enough. */
export function waitBeforeReload(past: Reloads, now: number): number | null {
  const count = countedAt(past, now);
  return count < MOST ? FIRST_WAIT * 2 ** count : null;
}

export function oneMore(past: Reloads, now: number): Reloads {
  return { count: countedAt(past, now) + 1, at: now };
}

function countedAt(past: Reloads, now: number): number {
  return now - past.at < FORGOTTEN_AFTER ? past.count : 0;
}

export function recall(): Reloads {
  const [count = 0, at = 0] = (sessionStorage.getItem(KEY) ?? "").split(" ").map(Number);
  return Number.isFinite(count) && Number.isFinite(at) ? { count, at } : { count: 0, at: 0 };
}

export function remember(reloads: Reloads): void {
  sessionStorage.setItem(KEY, `${String(reloads.count)} ${String(reloads.at)}`);
}
