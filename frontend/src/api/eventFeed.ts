/** What happens to jobs? One stream of events for all windows of a browser, one of which reads it. */

import type { FeedEvent } from "./types";
import { BROWSER, type LiveBrowser } from "./liveReads";

/** What the window that reads the stream tells the others. */
export interface Told {
  readonly place: string; // behind which to go on; empty: the stream broke
  readonly event?: FeedEvent;
}

export interface Channel {
  readonly tell: (told: Told) => void;
  readonly close: () => void;
}

export interface FeedBrowser extends LiveBrowser {
  /** Have this window read for all, once no other does; returns what ends it. */
  readonly lead: (begin: () => void) => () => void;
  readonly channel: (onTold: (told: Told) => void) => Channel;
}

type OnEvents = (events: readonly FeedEvent[]) => void;

const NAME = "concertina-events";
const SOON_MILLISECONDS = 100; // in which more may come of the same cause
const REST_MILLISECONDS = 5000; // between two times that events are told
const MOST_GATHERED = 20_000; // events; a thousand jobs may be submitted at once
const RETRY_MILLISECONDS = 3000; // where nothing came; doubled each time
const MOST_DOUBLINGS = 4;
const SILENCE_MILLISECONDS = 40_000; // the service says every 15 s that it is still there

const ALONE: Channel = { tell: () => undefined, close: () => undefined };

export const FEED_BROWSER: FeedBrowser = {
  ...BROWSER,
  lead: (begin) => {
    // Only over https or on this machine can windows agree who reads; else all ask, as before.
    if (!("locks" in navigator)) return () => undefined;
    const asked = new AbortController();
    let release = (): void => undefined;
    const hold = () =>
      new Promise<void>((resolve) => {
        release = resolve;
        begin();
      });
    navigator.locks.request(NAME, { signal: asked.signal }, hold).catch(() => undefined);
    return () => {
      asked.abort();
      release();
    };
  },
  channel: (onTold) => {
    // Windows that cannot tell each other ask, but for the one that reads.
    if (!("BroadcastChannel" in globalThis)) return ALONE;
    const channel = new BroadcastChannel(NAME);
    channel.onmessage = (message: MessageEvent<Told>) => {
      onTold(message.data);
    };
    return {
      tell: (told) => {
        channel.postMessage(told);
      },
      close: () => {
        channel.close();
      },
    };
  },
};

/** Tells what happened while somebody sees the page; a hidden one asks when it is seen again. */
export class EventFeed {
  readonly #browser: FeedBrowser;
  readonly #watchers = new Set<OnEvents>();
  readonly #listeners = new Set<() => void>();
  #gathered: FeedEvent[] = [];
  #isToldSoon = false;
  #place = "";
  #isFollowed = false;
  #isLooking = false; // at whether the page is seen
  #stop: (() => void) | null = null;
  #channel: Channel | null = null;
  #source: EventSource | null = null;
  #failures = 0; // in a row
  #stopWaiting: () => void = () => undefined;
  #stopRetrying: () => void = () => undefined;

  constructor(browser: FeedBrowser = FEED_BROWSER) {
    this.#browser = browser;
  }

  /** Whether events are told, so that what they concern need hardly be asked for. */
  readonly isFollowed = (): boolean => this.#isFollowed;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Have what happens told, some at a time; returns the function that ends it. */
  watch(onEvents: OnEvents): () => void {
    if (!this.#isLooking) this.#browser.onVisibility(this.#settle);
    this.#isLooking = true;
    this.#watchers.add(onEvents);
    this.#settle();
    return () => {
      this.#watchers.delete(onEvents);
      this.#settle();
    };
  }

  readonly #settle = (): void => {
    const isWanted = this.#watchers.size > 0 && !this.#browser.isHidden();
    if (isWanted === (this.#stop !== null)) return;
    if (isWanted) {
      this.#channel = this.#browser.channel(this.#hear);
      this.#stop = this.#browser.lead(this.#open);
      return;
    }
    this.#close();
    this.#stopRetrying();
    this.#channel?.close();
    this.#channel = null;
    this.#place = ""; // a page that is seen again asks for everything anyway
    this.#gathered = [];
    this.#failures = 0;
    this.#setFollowed(false);
    this.#stop?.();
    this.#stop = null;
  };

  readonly #open = (): void => {
    const after = this.#place === "" ? "newest" : this.#place;
    const source = this.#browser.open(`/api/v1/events/stream?after=${after}`);
    this.#source = source;
    // A stream that begins, and breaks at once each time, is not opened more and more often.
    source.addEventListener("begin", (event: MessageEvent<string>) => {
      this.#say({ place: event.lastEventId });
    });
    source.addEventListener("still-there", (event: MessageEvent<string>) => {
      this.#failures = 0;
      this.#say({ place: event.lastEventId });
    });
    source.addEventListener("event", (event: MessageEvent<string>) => {
      this.#failures = 0;
      this.#say({ place: event.lastEventId, event: JSON.parse(event.data) as FeedEvent });
    });
    source.addEventListener("again", this.#again);
    source.onerror = this.#again;
    this.#wait();
  };

  readonly #again = (): void => {
    this.#close();
    const doublings = Math.min(this.#failures - 1, MOST_DOUBLINGS);
    const pause = this.#failures === 0 ? 0 : RETRY_MILLISECONDS * 2 ** doublings;
    this.#failures += 1;
    if (this.#failures > 1) this.#say({ place: "" });
    this.#stopRetrying = this.#browser.later(this.#open, pause);
  };

  #close(): void {
    this.#stopWaiting();
    this.#source?.close();
    this.#source = null;
  }

  #say(told: Told): void {
    this.#channel?.tell(told);
    this.#hear(told);
  }

  readonly #hear = ({ place, event }: Told): void => {
    this.#setFollowed(place !== "");
    if (place === "") return;
    this.#place = place;
    this.#wait();
    if (event !== undefined) this.#gather(event);
  };

  /** Without a word for so long, the stream or the window that reads it is no more. */
  #wait(): void {
    this.#stopWaiting();
    this.#stopWaiting = this.#browser.later(() => {
      this.#setFollowed(false);
      if (this.#source !== null) this.#again();
    }, SILENCE_MILLISECONDS);
  }

  #gather(event: FeedEvent): void {
    this.#gathered.push(event);
    if (this.#gathered.length > MOST_GATHERED) this.#gathered.shift();
    if (this.#isToldSoon) return;
    this.#isToldSoon = true;
    this.#browser.later(this.#tell, SOON_MILLISECONDS);
  }

  /** Much may happen all the time: what it concerns is asked for once in a while. */
  readonly #tell = (): void => {
    const events = this.#gathered;
    this.#gathered = [];
    this.#isToldSoon = events.length > 0;
    if (events.length === 0) return;
    this.#browser.later(this.#tell, REST_MILLISECONDS);
    for (const onEvents of this.#watchers) onEvents(events);
  };

  #setFollowed(isFollowed: boolean): void {
    if (isFollowed === this.#isFollowed) return;
    this.#isFollowed = isFollowed;
    for (const listener of this.#listeners) listener();
  }
}
