/** Which month is reported, and how do its numbers stand beside those of the month before? */

import type { MonthReport } from "../api/types";
import { formatGpuHours, NONE } from "./format";

export const LATEST = "latest";

const MONTH = /^(2[01]\d{2})-(0[1-9]|1[0-2])$/;
const inWords = new Intl.DateTimeFormat("en-GB", {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});
const money = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** What an address says; what cannot be a month is the one that was over last. */
export function monthOf(text: string | undefined): string {
  return text !== undefined && MONTH.test(text) ? text : LATEST;
}

/** `2026-10`, some months on: `monthAfter("2026-10", -1)` is `2026-09`. */
export function monthAfter(month: string, months: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

/** `October 2026`. */
export function monthInWords(month: string): string {
  return inWords.format(new Date(`${month}-01T00:00:00Z`));
}

/** `1,234.50`; an amount of which a part has no price is not told. */
export function formatMoney(amount: number | null): string {
  return amount === null ? NONE : money.format(amount);
}

/** `+12 %` of the month before, `new` where there was nothing, and nothing where nothing is. */
export function changeSince(now: number | null, before: number | null): string {
  if (now === null || before === null || now === before) return "";
  if (before === 0) return "new";
  const percent = Math.round(((now - before) / Math.abs(before)) * 100);
  return percent === 0
    ? ""
    : `${percent > 0 ? "+" : "−"}${Math.abs(percent).toLocaleString("en")} %`;
}

export interface ReportLine {
  readonly name: string;
  readonly now: string;
  readonly before: string;
  readonly change: string;
}

const HOURS = [
  ["guaranteed_gpu_hours", "Held, of the guarantee"],
  ["borrowed_gpu_hours", "Held, borrowed"],
  ["lent_gpu_hours", "Lent to others"],
  ["idle_gpu_hours", "Idle"],
  ["lost_work_gpu_hours", "Lost work"],
] as const;
const MONEY = [
  ["cost", "Cost of what was held"],
  ["credit", "Credit for what was lent"],
  ["balance", "To pay"],
] as const;
const JOBS = [
  ["completed", "Jobs completed"],
  ["failed", "Jobs failed"],
  ["cancelled", "Jobs cancelled"],
] as const;

/** A line for each number; money only where there are prices. */
export function linesOf({ total, jobs, before }: MonthReport): ReportLine[] {
  const hasMoney = total.cost !== null && (total.cost !== 0 || total.credit !== 0);
  return [
    ...HOURS.map(([name, text]) =>
      line(text, total[name], before.total[name], (hours) => formatGpuHours(hours ?? 0)),
    ),
    ...(hasMoney
      ? MONEY.map(([name, text]) => line(text, total[name], before.total[name], formatMoney))
      : []),
    ...JOBS.map(([name, text]) => line(text, jobs[name], before.jobs[name], String)),
  ];
}

function line(
  name: string,
  now: number | null,
  before: number | null,
  format: (amount: number | null) => string,
): ReportLine {
  return { name, now: format(now), before: format(before), change: changeSince(now, before) };
}
