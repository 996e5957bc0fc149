import { describe, expect, it } from "vitest";

import { EventFeed, FEED_BROWSER, type FeedBrowser, type Told } from "./eventFeed";

/** A stream that does what a test says. */
class Stream {
  onerror: (() => void) | null = null;
  isClosed = false;
  readonly #listeners = new Map<string, (event: unknown) => void>();

  constructor(readonly url: string) {}

  addEventListener(name: string, listener: (event: unknown) => void): void {
    this.#listeners.set(name, listener);
  }

  close(): void {
    this.isClosed = true;
  }

  says(name: string, place = "", job = ""): void {
    this.#listeners.get(name)?.({ data: JSON.stringify({ job_id: job }), lastEventId: place });
  }

  breaks(): void {
    this.onerror?.();
  }
}

const LONG_MILLISECONDS = 60_000;

/** A browser whose windows agree on who reads. */
function browser() {
  const streams: Stream[] = [];
  const channels = new Set<(told: Told) => void>();
  let queue: (() => void)[] = []; // who would read; the first of them does
  let later: { work: () => void; milliseconds: number }[] = [];
  const serve = (before: (() => void) | undefined) => {
    if (queue[0] !== before) queue[0]?.();
  };

  const window = () => {
    let isHidden = false;
    let look = (): void => undefined;
    const told: string[][] = [];
    const its: FeedBrowser = {
      open: (url) => {
        const stream = new Stream(url);
        streams.push(stream);
        return stream as unknown as EventSource;
      },
      place: () => undefined,
      later: (work, milliseconds) => {
        const one = { work, milliseconds };
        later.push(one);
        return () => {
          later = later.filter((other) => other !== one);
        };
      },
      isHidden: () => isHidden,
      onVisibility: (listener) => {
        look = listener;
        return () => undefined;
      },
      lead: (begin) => {
        const before = queue[0];
        queue.push(begin);
        serve(before);
        return () => {
          const first = queue[0];
          queue = queue.filter((one) => one !== begin);
          serve(first);
        };
      },
      channel: (onTold) => {
        channels.add(onTold);
        return {
          tell: (message) => {
            for (const other of channels) if (other !== onTold) other(message);
          },
          close: () => channels.delete(onTold),
        };
      },
    };
    const feed = new EventFeed(its);
    const stop = feed.watch((events) => told.push(events.map((one) => one.job_id)));
    const turns = (hidden: boolean) => {
      isHidden = hidden;
      look();
    };
    return { feed, told, stop, turns };
  };

  const goesBy = (milliseconds: number) => {
    const due = later.filter((one) => one.milliseconds <= milliseconds);
    later = later.filter((one) => !due.includes(one));
    for (const { work } of due) work();
  };
  return { streams, window, goesBy, newest: () => streams.at(-1) ?? new Stream("none") };
}

describe("events of jobs", () => {
  it("are read by one window and told to all", () => {
    const { streams, window, newest, goesBy } = browser();
    const [first, second] = [window(), window()];
    expect(streams.map(({ url }) => url)).toEqual(["/api/v1/events/stream?after=newest"]);
    newest().says("begin", "7");
    newest().says("event", "8", "a");
    newest().says("event", "9", "b");
    goesBy(100);
    expect([first.told, second.told]).toEqual([[["a", "b"]], [["a", "b"]]]);
    expect([first.feed.isFollowed(), second.feed.isFollowed()]).toEqual([true, true]);
  });

  it("are read on behind the last one by the next window when the first is hidden", () => {
    const { streams, window, newest, goesBy } = browser();
    const [first, second] = [window(), window()];
    newest().says("event", "8", "a");
    first.turns(true);
    expect(streams[0]?.isClosed).toBe(true);
    expect(streams.map(({ url }) => url)).toEqual([
      "/api/v1/events/stream?after=newest",
      "/api/v1/events/stream?after=8",
    ]);
    newest().says("event", "9", "b");
    goesBy(LONG_MILLISECONDS);
    expect(second.told.flat()).toEqual(["a", "b"]);
    expect(first.told).toEqual([]);
    second.turns(true);
    expect(streams.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it("go on behind the last one once the service is back, and pages ask meanwhile", () => {
    const { window, newest, goesBy, streams } = browser();
    const { feed, told } = window();
    newest().says("begin", "7");
    newest().breaks(); // it is opened again at once
    goesBy(0);
    newest().breaks();
    expect(feed.isFollowed()).toBe(false);
    goesBy(3000);
    newest().breaks();
    goesBy(3000); // it is not asked for more and more often
    expect(streams).toHaveLength(3);
    goesBy(6000);
    expect(newest().url).toBe("/api/v1/events/stream?after=7");
    newest().says("begin", "7");
    newest().says("event", "8", "a");
    expect(feed.isFollowed()).toBe(true);
    goesBy(100);
    expect(told).toEqual([["a"]]);
  });

  it("count as told no more when nothing is heard", () => {
    const { window, newest, goesBy, streams } = browser();
    const { feed } = window();
    newest().says("begin", "7");
    goesBy(40_000);
    expect(feed.isFollowed()).toBe(false);
    goesBy(0);
    expect(streams).toHaveLength(2);
  });

  it("are told at once, then those of five seconds together", () => {
    const { window, newest, goesBy } = browser();
    const { told } = window();
    newest().says("event", "1", "a");
    goesBy(100);
    for (const [place, job] of [
      ["2", "b"],
      ["3", "c"],
    ] as const) {
      newest().says("event", place, job);
      goesBy(100);
    }
    expect(told).toEqual([["a"]]);
    goesBy(5000);
    expect(told).toEqual([["a"], ["b", "c"]]);
  });

  it("are not asked for more and more often by a service that begins and breaks off", () => {
    const { window, newest, goesBy, streams } = browser();
    const { feed } = window();
    for (let time = 0; time < 20; time++) {
      newest().says("begin", "7");
      newest().breaks();
      goesBy(0);
    }
    expect(streams).toHaveLength(2);
    expect(feed.isFollowed()).toBe(false);
    goesBy(3000);
    newest().says("begin", "7");
    newest().says("still-there", "7");
    expect(feed.isFollowed()).toBe(true);
    newest().breaks(); // it lasted, so it is opened again at once
    goesBy(0);
    expect(streams).toHaveLength(4);
  });

  it("are all told, however many jobs are submitted at once", () => {
    const { window, newest, goesBy } = browser();
    const { told } = window();
    const jobs = Array.from({ length: 3000 }, (_, at) => `job-${String(at)}`);
    for (const job of jobs) newest().says("event", "8", job);
    goesBy(100);
    expect(told).toEqual([jobs]);
  });

  it("are heard of by nobody else in a browser without channels", () => {
    const channels = globalThis.BroadcastChannel;
    Reflect.deleteProperty(globalThis, "BroadcastChannel");
    try {
      const alone = FEED_BROWSER.channel(() => undefined);
      alone.tell({ place: "7" });
      alone.close();
    } finally {
      globalThis.BroadcastChannel = channels;
    }
  });

  it("are read by nobody when nobody watches", () => {
    const { window, newest } = browser();
    const { stop } = window();
    stop();
    expect(newest().isClosed).toBe(true);
  });
});
