/** How do a job's log lines arrive? Over server-sent events, until the job is final. */

import { BROWSER as WINDOW, type LiveBrowser } from "./liveReads";
import type { Leave } from "./streamPlaces";
import type { LogLine } from "./types";

/** Crowded: other windows of the browser have all the streams that it can hold. */
export type StreamStatus = "connecting" | "crowded" | "open" | "reconnecting" | "ended" | "refused";

export interface LogStreamHandlers {
  readonly onLine: (line: LogLine) => void;
  readonly onStatus: (status: StreamStatus) => void;
}

/** What a browser has for it; tests have their own. */
export interface Browser extends LiveBrowser {
  readonly statusOf: (url: string) => Promise<number>;
}

const TAIL = 500;
const RETRY_MILLISECONDS = 2000;
const CLOSED = 2; // EventSource.CLOSED: it was answered, but with no stream
/** The place in the log is none, or none any more, or too long for a server on the way. */
const PLACE_REFUSED: readonly number[] = [400, 410, 414, 422, 431];

const BROWSER: Browser = {
  ...WINDOW,
  statusOf: async (url) => {
    const asked = new AbortController();
    const { status } = await fetch(url, { signal: asked.signal });
    asked.abort(); // what was asked for may be a stream
    return status;
  },
};

/**
 * Follow a job's log; returns the function that stops it.
 *
 * After a break the stream is opened anew behind the last event that was read. If that place is
 * refused, it starts again with the last lines there are. A page that nobody sees follows none: it
 * would hold one of the few connections that a browser has.
 */
export function followLog(
  jobId: string,
  handlers: LogStreamHandlers,
  browser: Browser = BROWSER,
): () => void {
  let source: EventSource | null = null;
  let place = "";
  let isOver = false;
  let isQueueing = false;
  let leave: Leave | null = null; // the place of its stream
  let forget = (): void => undefined;

  const read = (event: MessageEvent<string>): void => {
    place = event.lastEventId;
  };

  const retry = (): void => {
    if (!isOver) forget = browser.later(settle, RETRY_MILLISECONDS);
  };

  const close = (): void => {
    forget();
    source?.close();
    source = null;
    leave?.();
    leave = null;
  };

  const end = (status: StreamStatus): void => {
    isOver = true;
    close();
    handlers.onStatus(status);
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
      end("ended");
    });
    opened.addEventListener("refused", () => {
      end("refused");
    });
    opened.onerror = () => {
      const mayBeThePlace = place !== "" && opened.readyState === CLOSED;
      opened.close();
      source = null;
      handlers.onStatus("reconnecting");
      if (mayBeThePlace) void retryWithoutBadPlace(url);
      else retry();
    };
  };

  /** Follow while somebody looks, and there is a place for one more stream. */
  const settle = (): void => {
    if (isOver || browser.isHidden()) {
      close();
    } else if (source === null && leave !== null) {
      forget();
      open();
    } else if (source === null && !isQueueing) {
      isQueueing = true;
      browser.place((given) => {
        isQueueing = false;
        leave = given;
        if (given === null && !isOver) handlers.onStatus("crowded");
        if (given === null) retry();
        else settle();
      });
    }
  };

  handlers.onStatus("connecting");
  const stopLooking = browser.onVisibility(settle);
  settle();
  return () => {
    isOver = true;
    stopLooking();
    close();
  };
}
