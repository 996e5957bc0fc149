/** Which log lines are on screen? A bounded buffer that takes every line once, in time order. */

import type { LogLine } from "../api/types";

/** Older lines fall out; `concertina logs` has them all. */
export const LOG_LIMIT = 1000;

export interface LogBuffer {
  readonly lines: readonly LogLine[];
  readonly keys: ReadonlySet<string>;
}

export const EMPTY_LOG: LogBuffer = { lines: [], keys: new Set() };

/** Two lines are the same line when one worker wrote the same text at the same microsecond. */
export function keyOf(line: LogLine): string {
  return `${line.at} ${line.worker} ${line.stream} ${line.text}`;
}

/** A stream that reconnects sends its tail again, so lines already here are dropped. */
export function append(
  buffer: LogBuffer,
  incoming: readonly LogLine[],
  limit: number = LOG_LIMIT,
): LogBuffer {
  const keys = new Set(buffer.keys);
  const fresh = incoming.filter((line) => {
    const key = keyOf(line);
    const isNew = !keys.has(key);
    keys.add(key);
    return isNew;
  });
  if (fresh.length === 0) return buffer;
  const lines = inTimeOrder([...buffer.lines, ...fresh]);
  const kept = lines.slice(-limit);
  for (const dropped of lines.slice(0, lines.length - kept.length)) keys.delete(keyOf(dropped));
  return { lines: kept, keys };
}

function inTimeOrder(lines: LogLine[]): LogLine[] {
  const isSorted = lines.every(
    (line, index) => index === 0 || (lines[index - 1]?.at ?? "") <= line.at,
  );
  return isSorted ? lines : lines.toSorted((a, b) => a.at.localeCompare(b.at));
}

export interface LogFilter {
  readonly worker: string;
  readonly text: string;
}

export function filterLines(lines: readonly LogLine[], filter: LogFilter): readonly LogLine[] {
  const wanted = filter.text.trim().toLowerCase();
  if (wanted === "" && filter.worker === "") return lines;
  return lines.filter(
    (line) =>
      (filter.worker === "" || line.worker === filter.worker) &&
      (wanted === "" || line.text.toLowerCase().includes(wanted)),
  );
}

export function workersIn(lines: readonly LogLine[]): string[] {
  return [...new Set(lines.map((line) => line.worker))].toSorted((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
}

/** `k3v9-1-4` of job `k3v9` reads as `1-4`: attempt and number. */
export function shortWorker(worker: string, jobId: string): string {
  return worker.startsWith(`${jobId}-`) ? worker.slice(jobId.length + 1) : worker;
}
