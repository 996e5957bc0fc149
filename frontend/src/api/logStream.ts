/** How do a job's log lines arrive? Over server-sent events, until the job is final. */

import type { LogLine } from "./types";

export type StreamStatus = "connecting" | "open" | "reconnecting" | "ended" | "refused";

export interface LogStreamHandlers {
  readonly onLine: (line: LogLine) => void;
  readonly onStatus: (status: StreamStatus) => void;
}

/** What a browser has for it; tests have their own. */
export interface Browser {
  readonly open: (url: string) => EventSource;
  readonly statusOf: (url: string) => Promise<number>;
  readonly later: (work: () => void, milliseconds: number) => () => void;
}

const TAIL = 500;
const RETRY_MILLISECONDS = 2000;
const CLOSED = 2; // EventSource.CLOSED: it was answered, but with no stream
/** The place in the log is none, or none any more, or too long for a server on the way. */
const PLACE_REFUSED: readonly number[] = [400, 410, 414, 422, 431];

const BROWSER: Browser = {
  open: (url) => new EventSource(url),
  statusOf: async (url) => {
    const asked = new AbortController();
    const { status } = await fetch(url, { signal: asked.signal });
    asked.abort(); // what was asked for may be a stream
    return status;
  },
  later: (work, milliseconds) => {
    const timer = window.setTimeout(work, milliseconds);
    return () => {
      window.clearTimeout(timer);
    };
  },
};

/**
 * Follow a job's log; returns the function that stops it.
 *
 * After a break the stream is opened anew behind the last event that was read. If that place is
 * refused, it starts again with the last lines there are.
 */
export function followLog(
  jobId: string,
  handlers: LogStreamHandlers,
  browser: Browser = BROWSER,
): () => void {
  let source: EventSource | null = null;
  let place = "";
  let isStopped = false;
  let forget = (): void => undefined;

  const read = (event: MessageEvent<string>): void => {
    place = event.lastEventId;
  };

  const retry = (): void => {
    if (!isStopped) forget = browser.later(open, RETRY_MILLISECONDS);
  };

  /** An `EventSource` does not tell why it was refused. */
  const retryWithoutBadPlace = async (url: string): Promise<void> => {
    const status = await browser.statusOf(url).catch(() => 0);
    if (PLACE_REFUSED.includes(status)) place = "";
    retry();
  };

  const open = (): void => {
    const begin = place === "" ? `tail=${TAIL}` : `after=${encodeURIComponent(place)}`;
    const url = `/api/v1/jobs/${jobId}/logs?follow=true&${begin}`;
    const opened = browser.open(url);
    source = opened;
    opened.onopen = () => {
      handlers.onStatus("open");
    };
    opened.addEventListener("begin", read);
    opened.onmessage = (event: MessageEvent<string>) => {
      read(event);
      handlers.onLine(JSON.parse(event.data) as LogLine);
    };
    opened.addEventListener("end", () => {
      opened.close();
      handlers.onStatus("ended");
    });
    opened.addEventListener("refused", () => {
      opened.close();
      handlers.onStatus("refused");
    });
    opened.onerror = () => {
      const mayBeThePlace = place !== "" && opened.readyState === CLOSED;
      opened.close();
      handlers.onStatus("reconnecting");
      if (mayBeThePlace) void retryWithoutBadPlace(url);
      else retry();
    };
  };

  handlers.onStatus("connecting");
  open();
  return () => {
    isStopped = true;
    forget();
    source?.close();
  };
}
