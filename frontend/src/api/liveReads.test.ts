import { describe, expect, it } from "vitest";

import { LiveReads, type LiveBrowser } from "./liveReads";

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

  send(read: string, body: unknown, status = 200): void {
    this.#listeners.get("read")?.({ data: JSON.stringify({ read, status, body }) });
  }

  comeAgain(): void {
    this.#listeners.get("again")?.({ data: "{}" });
  }
}

const LONG_MILLISECONDS = 10_000;

/** A page with its live reads; what it was to do soon is done at once when it `waits`. */
function page(places = { free: 1 }) {
  const streams: Stream[] = [];
  let later: { work: () => void; milliseconds: number }[] = [];
  const answers: unknown[] = [];
  let isHidden = false;
  let look = (): void => undefined;
  const browser: LiveBrowser = {
    open: (url) => {
      const stream = new Stream(url);
      streams.push(stream);
      return stream as unknown as EventSource;
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
  };
  const live = new LiveReads(() => {
    answers.push(null);
  }, browser);
  const goesBy = (milliseconds: number) => {
    const due = later.filter((one) => one.milliseconds <= milliseconds);
    later = later.filter((one) => !due.includes(one));
    for (const { work } of due) work();
  };
  return {
    live,
    streams,
    answers,
    newest: () => streams.at(-1) ?? new Stream("none"),
    waits: () => {
      goesBy(LONG_MILLISECONDS);
    },
    hearsNothing: () => {
      goesBy(Infinity);
    },
    hide: (hidden: boolean) => {
      isHidden = hidden;
      look();
    },
  };
}

const TEAMS = "/api/v1/teams";
const JOBS = "/api/v1/jobs?state=running,paused";

describe("LiveReads", () => {
  it("opens one stream for all that is watched, however many watch", () => {
    const { live, streams, newest, waits } = page();
    const bodies: unknown[] = [];
    live.watch(TEAMS, (body) => bodies.push(body));
    live.watch(TEAMS, (body) => bodies.push(body));
    live.watch(JOBS, (body) => bodies.push(body));
    waits();
    expect(streams.map(({ url }) => url)).toEqual([
      "/api/v1/live?read=%2Fapi%2Fv1%2Fjobs%3Fstate%3Drunning%2Cpaused&read=%2Fapi%2Fv1%2Fteams",
    ]);
    expect(live.isPushed(TEAMS)).toBe(false);
    newest().send(TEAMS, { items: [] });
    expect([live.isPushed(TEAMS), live.isPushed(JOBS)]).toEqual([true, false]);
    expect(bodies).toEqual([{ items: [] }]);
  });

  it("opens another when something else is watched, and none when nothing is", () => {
    const { live, streams, newest, waits } = page();
    const leave = live.watch(TEAMS, () => undefined);
    waits();
    live.watch(TEAMS, () => undefined)();
    waits();
    expect(streams).toHaveLength(1);
    const leaveJobs = live.watch(JOBS, () => undefined);
    waits();
    expect(streams.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    leave();
    leaveJobs();
    waits();
    expect(newest().isClosed).toBe(true);
    expect(streams).toHaveLength(2);
  });

  it("has its reads asked for while the stream is broken, and opens it again", () => {
    const { live, streams, newest, waits } = page();
    const told: boolean[] = [];
    live.subscribe(() => told.push(live.isPushed(TEAMS)));
    live.watch(TEAMS, () => undefined);
    waits();
    newest().send(TEAMS, 1);
    newest().onerror?.();
    expect(told).toEqual([true, false]);
    waits();
    newest().send(TEAMS, 1);
    newest().comeAgain();
    waits();
    expect(streams).toHaveLength(3);
    expect(told).toEqual([true, false, true, false]);
  });

  it("tries less often where no stream is given", () => {
    const { live, streams, newest, waits } = page();
    live.watch(TEAMS, () => undefined);
    waits();
    for (let tries = 0; tries < 3; tries += 1) {
      newest().onerror?.();
      waits();
    }
    expect(streams).toHaveLength(4);
    newest().onerror?.();
    waits(); // a wait of 12 s is longer than this one
    expect(streams).toHaveLength(4);
  });

  it("has what is refused asked for, which then says why", () => {
    const { live, newest, waits } = page();
    const bodies: unknown[] = [];
    live.watch(TEAMS, (body) => bodies.push(body));
    waits();
    newest().send(TEAMS, 1);
    newest().send(TEAMS, null, 404);
    expect(live.isPushed(TEAMS)).toBe(false);
    expect(bodies).toEqual([1]);
  });

  it("leaves a read that is too long to be asked for, so that it spoils no other", () => {
    const { live, newest, waits } = page();
    live.watch(TEAMS, () => undefined);
    live.watch(`${JOBS}&search=${"x".repeat(400)}`, () => undefined);
    waits();
    expect(new URLSearchParams(newest().url.split("?")[1]).getAll("read")).toEqual([TEAMS]);
  });

  it("gives up a stream on which nothing comes any more", () => {
    const { live, streams, newest, waits, hearsNothing } = page();
    live.watch(TEAMS, () => undefined);
    waits();
    newest().send(TEAMS, 1);
    hearsNothing();
    expect([newest().isClosed, live.isPushed(TEAMS)]).toEqual([true, false]);
    waits();
    expect(streams).toHaveLength(2);
  });

  it("says that the service answers", () => {
    const { live, answers, newest, waits } = page();
    live.watch(TEAMS, () => undefined);
    waits();
    newest().send(TEAMS, 1);
    expect(answers).toHaveLength(1);
  });

  it("closes while nobody sees the page", () => {
    const { live, streams, newest, waits, hide } = page();
    live.watch(TEAMS, () => undefined);
    waits();
    hide(true);
    waits();
    expect(newest().isClosed).toBe(true);
    hide(false);
    waits();
    expect(streams).toHaveLength(2);
  });

  it("asks while other windows have all places, and takes one that becomes free", () => {
    const places = { free: 0 };
    const { live, streams, waits, hide } = page(places);
    live.watch(TEAMS, () => undefined);
    waits();
    waits();
    expect(streams).toHaveLength(0);
    places.free = 1;
    waits();
    expect([streams.length, places.free]).toEqual([1, 0]);
    hide(true);
    waits();
    expect(places.free).toBe(1);
  });
});
