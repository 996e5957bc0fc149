/** How do a job's log lines arrive? Over server-sent events, until the job is final. */

import type { LogLine } from "./types";

export type StreamStatus = "connecting" | "open" | "reconnecting" | "ended" | "refused";

export interface LogStreamHandlers {
  readonly onLine: (line: LogLine) => void;
  readonly onStatus: (status: StreamStatus) => void;
}

const TAIL = 500;
const RETRY_MILLISECONDS = 2000;

/**
 * Follow a job's log; returns the function that stops it.
 *
 * After a break the stream is opened anew behind the last event that was read.
 */
export function followLog(jobId: string, handlers: LogStreamHandlers): () => void {
  let source: EventSource | null = null;
  let retry: number | undefined;
  let place = "";

  const read = (event: MessageEvent<string>): void => {
    place = event.lastEventId;
  };

  const open = (): void => {
    const begin = place === "" ? `tail=${TAIL}` : `after=${encodeURIComponent(place)}`;
    source = new EventSource(`/api/v1/jobs/${jobId}/logs?follow=true&${begin}`);
    source.onopen = () => {
      handlers.onStatus("open");
    };
    source.addEventListener("begin", read);
    source.onmessage = (event: MessageEvent<string>) => {
      read(event);
      handlers.onLine(JSON.parse(event.data) as LogLine);
    };
    source.addEventListener("end", () => {
      source?.close();
      handlers.onStatus("ended");
    });
    source.addEventListener("refused", () => {
      source?.close();
      handlers.onStatus("refused");
    });
    source.onerror = () => {
      source?.close();
      handlers.onStatus("reconnecting");
      retry = window.setTimeout(open, RETRY_MILLISECONDS);
    };
  };

  handlers.onStatus("connecting");
  open();
  return () => {
    window.clearTimeout(retry);
    source?.close();
  };
}
