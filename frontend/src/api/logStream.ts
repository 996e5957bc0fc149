/** How do a job's log lines arrive? Over server-sent events, until the job is final. */

import type { LogLine } from "./types";

export type StreamStatus = "connecting" | "open" | "reconnecting" | "ended";

export interface LogStreamHandlers {
  readonly onLine: (line: LogLine) => void;
  readonly onStatus: (status: StreamStatus) => void;
}

const TAIL = 500;
const RETRY_MILLISECONDS = 2000;

/**
 * Follow a job's log; returns the function that stops it.
 *
 * After a break the stream is opened anew and sends its tail again: the reader drops what it has.
 */
export function followLog(jobId: string, handlers: LogStreamHandlers): () => void {
  let source: EventSource | null = null;
  let retry: number | undefined;

  const open = (): void => {
    source = new EventSource(`/api/v1/jobs/${jobId}/logs?follow=true&tail=${TAIL}`);
    source.onopen = () => {
      handlers.onStatus("open");
    };
    source.onmessage = (event: MessageEvent<string>) => {
      handlers.onLine(JSON.parse(event.data) as LogLine);
    };
    source.addEventListener("end", () => {
      source?.close();
      handlers.onStatus("ended");
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
