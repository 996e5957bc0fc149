/** How does what a page shows stay as it is? The service sends it: one stream for all its reads. */

import { takePlace, type Leave, type OnPlace } from "./streamPlaces";

export interface LiveBrowser {
  readonly open: (url: string) => EventSource;
  readonly place: (onPlace: OnPlace) => void;
  readonly later: (work: () => void, milliseconds: number) => () => void;
  readonly isHidden: () => boolean;
  readonly onVisibility: (listener: () => void) => () => void;
}

interface Watched {
  readonly onBody: (body: unknown) => void;
  watchers: number;
}

interface Sent {
  readonly read: string;
  readonly status: number;
  readonly body: unknown;
}

const MOST_READS = 12; // of one stream; others are asked for
const LONGEST_READ = 400; // characters that the service takes; a longer one is asked for
const SETTLE_MILLISECONDS = 50; // a page's parts begin to watch one after the other
const RETRY_MILLISECONDS = 3000; // where nothing came; doubled each time
const MOST_DOUBLINGS = 4;
const PLACE_MILLISECONDS = 10_000; // until a window asks again whether it may have a stream, too
/** The service says every 15 s at least that it is still there; after that, the line is dead. */
const SILENCE_MILLISECONDS = 40_000;

export const BROWSER: LiveBrowser = {
  open: (url) => new EventSource(url),
  place: takePlace,
  later: (work, milliseconds) => {
    const timer = window.setTimeout(work, milliseconds);
    return () => {
      window.clearTimeout(timer);
    };
  },
  isHidden: () => document.hidden,
  onVisibility: (listener) => {
    document.addEventListener("visibilitychange", listener);
    return () => {
      document.removeEventListener("visibilitychange", listener);
    };
  },
};

/** Keeps one stream open for what is watched; nothing is sent to a page that nobody sees. */
export class LiveReads {
  readonly #browser: LiveBrowser;
  readonly #onAnswer: () => void;
  readonly #watched = new Map<string, Watched>();
  readonly #pushed = new Set<string>();
  readonly #listeners = new Set<() => void>();
  #source: EventSource | null = null;
  #url = "";
  #stopWaiting: () => void = () => undefined;
  #failures = 0; // in a row
  #isLooking = false; // at whether the page is seen
  #forget: () => void = () => undefined;
  #leave: Leave | null = null; // the place of its stream
  #isQueueing = false; // for a place

  constructor(onAnswer: () => void, browser: LiveBrowser = BROWSER) {
    this.#browser = browser;
    this.#onAnswer = onAnswer;
  }

  /** Whether the service sends this read by itself, so that nobody has to ask for it. */
  readonly isPushed = (read: string): boolean => this.#pushed.has(read);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Have each new answer told; returns the function that ends it. Many may watch the same. */
  watch(read: string, onBody: (body: unknown) => void): () => void {
    this.#look();
    const watched = this.#watched.get(read) ?? { onBody, watchers: 0 };
    watched.watchers += 1;
    this.#watched.set(read, watched);
    this.#settle(SETTLE_MILLISECONDS);
    return () => {
      watched.watchers -= 1;
      if (watched.watchers > 0) return;
      this.#watched.delete(read);
      this.#settle(SETTLE_MILLISECONDS);
    };
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#browser.onVisibility(() => {
      this.#settle(0);
    });
  }

  #settle(milliseconds: number): void {
    this.#forget();
    this.#forget = this.#browser.later(() => {
      this.#open();
    }, milliseconds);
  }

  #open(): void {
    const reads = this.#browser.isHidden() ? [] : [...this.#watched.keys()];
    const short = reads.filter((read) => read.length <= LONGEST_READ).toSorted();
    const url = addressOf(short.slice(0, MOST_READS));
    if (url === "") {
      this.#close();
      this.#leave?.();
      this.#leave = null;
      return;
    }
    if (url === this.#url) return;
    this.#close();
    if (this.#leave === null) {
      this.#queue();
      return;
    }
    const source = this.#browser.open(url);
    this.#source = source;
    this.#url = url;
    source.addEventListener("read", (event: MessageEvent<string>) => {
      this.#take(JSON.parse(event.data) as Sent);
    });
    source.addEventListener("still-there", () => {
      this.#wait();
    });
    source.addEventListener("again", this.#again);
    source.onerror = this.#again;
    this.#wait();
  }

  #queue(): void {
    if (this.#isQueueing) return;
    this.#isQueueing = true;
    this.#browser.place((leave) => {
      this.#isQueueing = false;
      this.#leave = leave;
      if (leave === null) this.#settle(PLACE_MILLISECONDS);
      else this.#open();
    });
  }

  readonly #again = (): void => {
    this.#close();
    const doublings = Math.min(this.#failures - 1, MOST_DOUBLINGS);
    this.#settle(this.#failures === 0 ? 0 : RETRY_MILLISECONDS * 2 ** doublings);
    this.#failures += 1;
  };

  /** A line that is cut without a word, as by a machine that vanished, is opened again. */
  #wait(): void {
    this.#stopWaiting();
    this.#stopWaiting = this.#browser.later(this.#again, SILENCE_MILLISECONDS);
  }

  #close(): void {
    this.#stopWaiting();
    this.#source?.close();
    this.#source = null;
    this.#url = "";
    if (this.#pushed.size === 0) return;
    this.#pushed.clear();
    this.#tell();
  }

  #take({ read, status, body }: Sent): void {
    this.#onAnswer();
    this.#failures = 0;
    this.#wait();
    const isGood = status === 200;
    if (isGood) this.#watched.get(read)?.onBody(body);
    if (isGood === this.#pushed.has(read)) return;
    if (isGood) this.#pushed.add(read);
    else this.#pushed.delete(read);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function addressOf(reads: readonly string[]): string {
  if (reads.length === 0) return "";
  return `/api/v1/live?${new URLSearchParams(reads.map((read) => ["read", read])).toString()}`;
}
