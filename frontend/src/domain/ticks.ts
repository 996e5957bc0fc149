/** What did a tick change? Who had how much before and after it, as strips side by side. */

import type { Tick, TickChange, TickShare } from "../api/types";
import { csvOf } from "./csv";
import { plural } from "./format";
import { reasonLabel } from "./reasons";

/** A stretch of a strip, from 0 to 1 of the pool. */
export interface Stretch {
  readonly begin: number;
  readonly end: number;
}

export interface StripPart {
  readonly key: string;
  readonly team: string;
  readonly name: string;
  readonly jobId: string | null;
  readonly gpusBefore: number;
  readonly gpusAfter: number;
  readonly before: Stretch;
  readonly after: Stretch;
}

/** Jobs by team and in the same order in both strips, so that what moves is what changed. */
export function stripsOf(shares: readonly TickShare[], gpusTotal: number): StripPart[] {
  const ordered = shares
    .map((share, index) => ({ share, key: share.job_id ?? `untold-${index}` }))
    .toSorted(
      (one, other) =>
        one.share.team.localeCompare(other.share.team) || one.key.localeCompare(other.key),
    );
  const sum = (of: "gpus_before" | "gpus_after") => shares.reduce((all, one) => all + one[of], 0);
  const whole = Math.max(gpusTotal, sum("gpus_before"), sum("gpus_after"), 1);
  let [before, after] = [0, 0];
  return ordered.map(({ share, key }) => {
    const part = {
      key,
      team: share.team,
      name: share.job_name ?? share.job_id ?? `a job of ${share.team}`,
      jobId: share.job_id,
      gpusBefore: share.gpus_before,
      gpusAfter: share.gpus_after,
      before: { begin: before / whole, end: (before + share.gpus_before) / whole },
      after: { begin: after / whole, end: (after + share.gpus_after) / whole },
    };
    before += share.gpus_before;
    after += share.gpus_after;
    return part;
  });
}

export function nameOf(change: TickChange): string {
  return change.job_name ?? change.job_id ?? `A job of ${change.team}`;
}

/** `digits 4 → 2 GPUs`, `digits starts on 2 GPUs`, `digits pauses, gives 4 GPUs back`. */
export function changeText(change: TickChange): string {
  const { gpus_before: before, gpus_after: after } = change;
  const name = nameOf(change);
  if (change.action === "drop") return `${name} did not fit and is refused`;
  if (before === 0) return `${name} starts on ${plural(after, "GPU")}`;
  if (after === 0) return `${name} pauses, gives ${plural(before, "GPU")} back`;
  if (before === after) return `${name} keeps ${plural(after, "GPU")}, but changes`;
  return `${name} ${before} → ${plural(after, "GPU")}`;
}

export function reasonText(change: TickChange): string {
  return change.reason === "" ? "" : reasonLabel(change.reason);
}

const COLUMNS = [
  ...["at", "team", "job", "job_id", "pool", "action", "gpus_before", "gpus_after", "reason"],
  ...["message", "predicted_gain", "predicted_stall_seconds", "plan_seconds", "alarm"],
];

export function ticksAsCsv(ticks: readonly Tick[]): string {
  const rows = ticks.flatMap((tick) => {
    const known = tick.changes.map((change) => [
      tick.at,
      change.team,
      change.job_name,
      change.job_id,
      change.pool,
      change.action,
      change.gpus_before,
      change.gpus_after,
      change.reason,
      change.message,
      change.gain,
      change.stall_seconds,
      tick.plan_seconds,
      tick.alarm,
    ]);
    const nothing = [tick.at, ...COLUMNS.slice(1, -2).map(() => null)];
    return known.length > 0 ? known : [[...nothing, tick.plan_seconds, tick.alarm]];
  });
  return csvOf(COLUMNS, rows);
}
