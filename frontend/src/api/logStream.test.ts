import { describe, expect, it } from "vitest";

import { followLog, type StreamStatus, type Browser } from "./logStream";

/** A stream that does what a test says. */
class Stream {
  onopen: (() => void) | null = null;
  onmessage: ((event: unknown) => void) | null = null;
  onerror: (() => void) | null = null;
  readyState = 0;
  readonly listeners = new Map<string, (event: unknown) => void>();

  addEventListener(name: string, listener: (event: unknown) => void): void {
    this.listeners.set(name, listener);
  }

  close(): void {
    this.readyState = 2;
  }

  line(text: string, place: string): void {
    this.onmessage?.({ data: JSON.stringify({ text }), lastEventId: place });
  }

  breaksOff(): void {
    this.onerror?.();
  }

  isRefused(): void {
    this.readyState = 2;
    this.onerror?.();
  }
}

function follow(answers: Promise<number>, places = { free: 1 }) {
  let isHidden = false;
  let look = (): void => undefined;
  const streams: Stream[] = [];
  const urls: string[] = [];
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const statuses: StreamStatus[] = [];
  const lines: string[] = [];
  const browser: Browser = {
    open: (url) => {
      urls.push(url);
      const stream = new Stream();
      streams.push(stream);
      return stream as unknown as EventSource;
    },
    statusOf: (url) => {
      asked.push(url);
      return answers;
    },
    later: (work) => {
      waiting.push(work);
      return () => waiting.splice(0);
    },
    place: (onPlace) => {
      onPlace(
        places.free === 0
          ? null
          : () => {
              places.free += 1;
            },
      );
      places.free = Math.max(0, places.free - 1);
    },
    isHidden: () => isHidden,
    onVisibility: (listener) => {
      look = listener;
      return () => undefined;
    },
  };
  const stop = followLog(
    "k3v9",
    { onLine: (line) => lines.push(line.text), onStatus: (status) => statuses.push(status) },
    browser,
  );
  const newest = () => streams[streams.length - 1] ?? new Stream();
  const goOn = async () => {
    await Promise.resolve().then(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    waiting.shift()?.();
  };
  const hide = (hidden: boolean) => {
    isHidden = hidden;
    look();
  };
  return { stop, newest, goOn, hide, urls, asked, statuses, lines, waiting };
}

const AT_THE_END = "/api/v1/jobs/k3v9/logs?follow=true&tail=500";
const BEHIND = "/api/v1/jobs/k3v9/logs?follow=true&after=-1-0%3A3f2";

describe("following a log", () => {
  it("goes on behind the last line after a break", async () => {
    const log = follow(Promise.resolve(200));
    log.newest().line("one", "-1-0:3f2");
    log.newest().breaksOff();
    await log.goOn();
    expect(log.urls).toEqual([AT_THE_END, BEHIND]);
    expect(log.asked).toEqual([]);
  });

  it("starts again from what is left when its place is refused", async () => {
    const log = follow(Promise.resolve(400));
    log.newest().line("one", "-1-0:3f2");
    log.newest().breaksOff();
    await log.goOn();
    log.newest().isRefused();
    await log.goOn();
    expect(log.urls).toEqual([AT_THE_END, BEHIND, AT_THE_END]);
    log.newest().line("two", "-1-0:400");
    expect(log.lines).toEqual(["one", "two"]);
  });

  it.each([Promise.resolve(429), Promise.resolve(503)])(
    "keeps its place when it is refused for another reason",
    async (answer) => {
      const log = follow(answer);
      log.newest().line("one", "-1-0:3f2");
      log.newest().isRefused();
      await log.goOn();
      expect(log.urls).toEqual([AT_THE_END, BEHIND]);
    },
  );

  it("keeps its place when nobody answers", async () => {
    const log = follow(Promise.reject(new TypeError("no network")));
    log.newest().line("one", "-1-0:3f2");
    log.newest().isRefused();
    await log.goOn();
    expect(log.urls).toEqual([AT_THE_END, BEHIND]);
  });

  it("holds no stream while nobody looks, and goes on where it was", () => {
    const places = { free: 1 };
    const log = follow(Promise.resolve(200), places);
    log.newest().line("one", "-1-0:3f2");
    expect(places.free).toBe(0);
    log.hide(true);
    expect([log.newest().readyState, places.free]).toEqual([2, 1]);
    log.hide(false);
    expect(log.urls).toEqual([AT_THE_END, BEHIND]);
  });

  it("waits for a place where other windows have all", async () => {
    const places = { free: 0 };
    const log = follow(Promise.resolve(200), places);
    await log.goOn();
    expect([log.urls, log.statuses.at(-1)]).toEqual([[], "crowded"]);
    places.free = 1;
    await log.goOn();
    expect(log.urls).toEqual([AT_THE_END]);
    log.stop();
    expect(places.free).toBe(1);
  });

  it("asks for nothing more once it is stopped", async () => {
    const log = follow(Promise.resolve(400));
    log.newest().line("one", "-1-0:3f2");
    log.newest().isRefused();
    log.stop();
    await log.goOn();
    expect(log.urls).toEqual([AT_THE_END]);
  });
});
