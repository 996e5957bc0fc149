/** Which rows of a very long list are here? Those near the eye; the rest is asked for once it nears. */

import type { Job } from "./types";

export const PAGE_ROWS = 100;

/** Rows of so many pages are kept, always of the first; of all others only where they begin. */
export const MOST_PAGES = 12;

/** What is not there yet is asked for this many rows ahead. */
const AHEAD = PAGE_ROWS / 2;

/** How many empty rows stand for the page that comes next. */
const ROWS_TO_COME = 20;

export interface JobPage {
  readonly items: readonly Job[];
  readonly next_cursor: string | null;
}

/**
 * A list that is read page by page, where each begins with the cursor of the one before.
 *
 * Whoever looks at its top sees what is new there. Whoever has scrolled down reads on in a list that
 * stays as it was; only its rows are renewed.
 */
export class JobPages {
  readonly #ask: (cursor: string) => Promise<JobPage>;
  readonly #pages = new Map<number, JobPage>(); // those seen last come last
  readonly #asked = new Set<string>(); // cursors
  readonly #listeners = new Set<() => void>();
  #cursors = [""]; // where each known page begins
  readonly #failed = new Map<number, unknown>();
  #head: JobPage | null = null; // newer than what is shown, which is not looked at from its top
  #shown: readonly [first: number, last: number] = [0, 0];
  #held: readonly Job[] | null = null; // null: not put together since the last change
  #version = 0;

  constructor(ask: (cursor: string) => Promise<JobPage>) {
    this.#ask = ask;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Another number after each change. */
  readonly version = (): number => this.#version;

  /** How many rows there are as far as is known, with some empty ones for those to come. */
  get rows(): number {
    const last = this.#cursors.length - 1;
    return last * PAGE_ROWS + (this.#pages.get(last)?.items.length ?? ROWS_TO_COME);
  }

  get isBegun(): boolean {
    return this.#pages.has(0) || this.#cursors.length > 1;
  }

  /** All rows that are here, never more than `MOST_PAGES` pages of them; the same until a change. */
  get held(): readonly Job[] {
    this.#held ??= [...this.#pages].toSorted(([a], [b]) => a - b).flatMap(([, page]) => page.items);
    return this.#held;
  }

  /** What went wrong with a page that is on screen. */
  get problem(): unknown {
    const [first, last] = this.#shownPages();
    for (const [page, error] of this.#failed) if (page >= first && page <= last) return error;
    return null;
  }

  /** Jobs have come on top since the list was scrolled down. */
  get hasNews(): boolean {
    return this.#head !== null;
  }

  at(row: number): Job | undefined {
    return this.#pages.get(Math.floor(row / PAGE_ROWS))?.items[row % PAGE_ROWS];
  }

  /** These rows are on screen. */
  show(first: number, last: number): void {
    this.#shown = [first, last];
    if (first === 0 && this.#head !== null) this.#begin(this.#head);
    const [from, to] = this.#shownPages();
    for (let page = from; page <= to; page += 1) {
      this.#keep(page);
      if (page > 0 && !this.#pages.has(page) && !this.#failed.has(page)) this.#read(page);
    }
  }

  /** The first page as it is now; nobody has to ask for it. */
  top(page: JobPage): void {
    const shown = this.#pages.get(0);
    const [first] = this.#shown;
    if (first === 0 || shown === undefined || isSameList(shown, page)) {
      this.#begin(page);
      return;
    }
    this.#head = page;
    const newer = new Map(page.items.map((job) => [job.id, job]));
    this.#pages.set(0, { ...shown, items: shown.items.map((job) => newer.get(job.id) ?? job) });
    this.#tell();
  }

  /** Read again what failed, or may have changed, on screen. */
  renew(mayChange: (job: Job) => boolean): void {
    const [from, to] = this.#shownPages();
    for (let page = Math.max(1, from); page <= to; page += 1) {
      const isLive = this.#pages.get(page)?.items.some(mayChange) ?? false;
      if (isLive || this.#failed.has(page)) this.#read(page);
    }
  }

  #begin(page: JobPage): void {
    this.#head = null;
    this.#take(0, page);
  }

  #read(page: number): void {
    const cursor = this.#cursors[page];
    if (cursor === undefined || this.#asked.has(cursor)) return;
    this.#asked.add(cursor);
    const isStill = () => this.#cursors[page] === cursor;
    this.#ask(cursor)
      .then((answer) => {
        this.#asked.delete(cursor);
        if (isStill()) this.#take(page, answer);
      })
      .catch((error: unknown) => {
        this.#asked.delete(cursor);
        if (!isStill()) return;
        this.#failed.set(page, error);
        this.#tell();
      });
  }

  /** What comes after a page that ends elsewhere now has to be read anew. */
  #take(page: number, answer: JobPage): void {
    const next = answer.next_cursor;
    if ((this.#cursors[page + 1] ?? null) !== next) {
      this.#cursors = this.#cursors.slice(0, page + 1);
      if (next !== null) this.#cursors.push(next);
      for (const known of [this.#pages, this.#failed]) {
        for (const later of [...known.keys()]) if (later > page) known.delete(later);
      }
    }
    this.#failed.delete(page);
    this.#pages.delete(page);
    this.#pages.set(page, answer);
    for (const oldest of [...this.#pages.keys()].filter((one) => one > 0)) {
      if (this.#pages.size <= MOST_PAGES) break;
      this.#pages.delete(oldest);
    }
    this.#tell();
    this.show(...this.#shown);
  }

  #keep(page: number): void {
    const held = this.#pages.get(page);
    if (held === undefined) return;
    this.#pages.delete(page);
    this.#pages.set(page, held);
  }

  #shownPages(): readonly [first: number, last: number] {
    const [first, last] = this.#shown;
    const most = this.#cursors.length - 1;
    const page = (row: number) => Math.min(most, Math.max(0, Math.floor(row / PAGE_ROWS)));
    return [page(first - AHEAD), page(last + AHEAD)];
  }

  #tell(): void {
    this.#held = null;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

function isSameList(a: JobPage, b: JobPage): boolean {
  return a.items.length === b.items.length && a.items.every(({ id }, at) => id === b.items[at]?.id);
}
