/** What became of a team's GPU-hours: its own, borrowed, lent, and of its guarantee as it was? */

import type { GpuAmounts, GpuUsage, GpuUsageRow } from "../api/types";

/** A day or a month, in GPU-hours. */
export interface GpuBar {
  readonly name: string; // as the service calls it: 2026-11-28, or 2026-11
  readonly begins: number;
  readonly ends: number;
  readonly own: number; // held, of the guarantee
  readonly borrowed: number; // held beyond it
  readonly lent: number; // of the guarantee, held by others
  readonly idle: number; // of it, held by nobody
  readonly guarantee: number;
}

type Amounts = Pick<
  GpuAmounts,
  | "guaranteed_gpu_hours"
  | "borrowed_gpu_hours"
  | "lent_gpu_hours"
  | "reserved_gpu_hours"
  | "idle_gpu_hours"
>;

/**
 * What the team was promised of what there was, as it was promised then.
 *
 * Of a guarantee, each hour was used by the team itself, lent, or idle; so these add up to it, whatever
 * the quota is today.
 */
export function guaranteeOf(row: Amounts): number {
  return row.guaranteed_gpu_hours + row.lent_gpu_hours + idleOf(row);
}

export function idleOf(row: Amounts): number {
  return row.reserved_gpu_hours + row.idle_gpu_hours;
}

export function heldOf(row: Amounts): number {
  return row.guaranteed_gpu_hours + row.borrowed_gpu_hours;
}

/** Those that held most, the most first; all in their own order if they are no more than that. */
export function mostHeld(rows: readonly GpuUsageRow[], most: number): readonly GpuUsageRow[] {
  if (rows.length <= most) return rows;
  return [...rows].sort((one, other) => heldOf(other) - heldOf(one)).slice(0, most);
}

/** A bar for each day or month from the first to the last that is known, also where nothing was. */
export function barsOf(usage: GpuUsage, by: "day" | "month"): GpuBar[] {
  const rows = new Map(usage.items.map((row) => [nameOf(row, by), row]));
  if (usage.since === null || usage.until === null) return [];
  const bars: GpuBar[] = [];
  const end = Date.parse(usage.until);
  for (let begins = beginOf(new Date(usage.since), by); begins.getTime() < end;) {
    const ends = nextAfter(begins, by);
    const name = calledOf(begins, by);
    bars.push(barOf(name, begins.getTime(), ends.getTime(), rows.get(name)));
    begins = ends;
  }
  return bars;
}

function nameOf(row: GpuUsageRow, by: "day" | "month"): string {
  return row[by] ?? "";
}

function beginOf(moment: Date, by: "day" | "month"): Date {
  return new Date(moment.getFullYear(), moment.getMonth(), by === "day" ? moment.getDate() : 1);
}

function nextAfter(begins: Date, by: "day" | "month"): Date {
  const [days, months] = by === "day" ? [1, 0] : [0, 1];
  return new Date(begins.getFullYear(), begins.getMonth() + months, begins.getDate() + days);
}

function calledOf(begins: Date, by: "day" | "month"): string {
  const parts = [begins.getFullYear(), begins.getMonth() + 1, begins.getDate()];
  const text = parts.map((part) => String(part).padStart(2, "0")).join("-");
  return by === "day" ? text : text.slice(0, "2026-11".length);
}

function barOf(name: string, begins: number, ends: number, row: GpuUsageRow | undefined): GpuBar {
  if (row === undefined) {
    return { name, begins, ends, own: 0, borrowed: 0, lent: 0, idle: 0, guarantee: 0 };
  }
  return {
    ...{ name, begins, ends },
    own: row.guaranteed_gpu_hours,
    borrowed: row.borrowed_gpu_hours,
    lent: row.lent_gpu_hours,
    idle: idleOf(row),
    guarantee: guaranteeOf(row),
  };
}

/** What the chart shows, in a sentence. */
export function describeBars(bars: readonly GpuBar[], by: "day" | "month"): string {
  const sum = (of: keyof Omit<GpuBar, "name">) =>
    Math.round(bars.reduce((all, bar) => all + bar[of], 0));
  return (
    `GPU-hours by ${by}, of ${bars.length} ${by}s: ${sum("own")} own, ${sum("borrowed")} borrowed,` +
    ` ${sum("lent")} lent, of ${sum("guarantee")} guaranteed.`
  );
}

/** Of what was held, the part that did something else than train; none: nothing was held. */
export function wasteOf(
  total: GpuAmounts,
): readonly { readonly name: string; readonly share: number }[] {
  const held = heldOf(total);
  if (held === 0) return [];
  return [
    { name: "trained", share: total.training_gpu_hours / held },
    { name: "starting", share: total.starting_gpu_hours / held },
    { name: "standing still", share: total.stalled_gpu_hours / held },
    { name: "trained in vain", share: total.lost_work_gpu_hours / held },
  ];
}

/** Keys of labels, those of most jobs first: by them a team can tell its projects apart. */
export function labelKeys(
  jobs: readonly { readonly labels: Readonly<Record<string, string>> }[],
): string[] {
  const counts = new Map<string, number>();
  for (const { labels } of jobs) {
    for (const key of Object.keys(labels)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const ordered = [...counts].toSorted(
    (one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1),
  );
  return ordered.map(([key]) => key);
}
