/** A job's log lines as they come in, each once, over breaks of the connection. */

import { useEffect, useState } from "react";

import { followLog, type StreamStatus } from "../../api/logStream";
import type { LogLine } from "../../api/types";
import { append, EMPTY_LOG } from "../../domain/logs";

/** Lines are taken up in batches, so that a chatty job does not render once per line. */
const FLUSH_MILLISECONDS = 150;

export interface FollowedLog {
  readonly lines: readonly LogLine[];
  readonly status: StreamStatus;
}

export function useLog(jobId: string): FollowedLog {
  const [buffer, setBuffer] = useState(EMPTY_LOG);
  const [status, setStatus] = useState<StreamStatus>("connecting");
  useEffect(() => {
    let incoming: LogLine[] = [];
    const flush = () => {
      if (incoming.length === 0) return;
      const batch = incoming;
      incoming = [];
      setBuffer((before) => append(before, batch));
    };
    const timer = window.setInterval(flush, FLUSH_MILLISECONDS);
    const stop = followLog(jobId, {
      onLine: (line) => incoming.push(line),
      onStatus: setStatus,
    });
    return () => {
      window.clearInterval(timer);
      stop();
    };
  }, [jobId]);
  return { lines: buffer.lines, status };
}
