/** What is a guarantee worth? In sentences, and as bars to both sides of what is now. */

import type { PriceStep, QuotaPriceResult } from "../api/types";
import { formatGpus, plural } from "./format";

const DAYS_OF_WEEK = 7;
const WORTH_HOURS = 0.05;

export interface PriceBar {
  readonly gpus: number;
  readonly name: string;
  readonly saved: number | null;
  /** Of half of the width; to the left where hours are lost. */
  readonly percent: number;
  readonly note: string;
}

/** One for each step, the fewest GPUs first. */
export function priceBars(result: QuotaPriceResult): readonly PriceBar[] {
  const most = Math.max(...result.steps.map((step) => Math.abs(step.job_hours_saved ?? 0)), 0);
  return result.steps
    .toSorted((one, other) => one.gpus - other.gpus)
    .map((step) => ({
      gpus: step.gpus,
      name: `${formatGpus(Math.abs(step.gpus))} ${step.gpus > 0 ? "more" : "fewer"}`,
      saved: step.job_hours_saved,
      percent: most === 0 ? 0 : (100 * Math.abs(step.job_hours_saved ?? 0)) / most,
      note: noteOf(step),
    }));
}

export function jobHours(hours: number | null): string {
  if (hours === null) return "does not compare";
  if (Math.abs(hours) < WORTH_HOURS) return "no difference";
  return `${Math.abs(hours).toFixed(1)} job-hours ${hours > 0 ? "saved" : "lost"}`;
}

/** What is worth a sentence. */
export function priceInWords(result: QuotaPriceResult, days: number): readonly string[] {
  return [borrowedInWords(result), oneMoreInWords(result.steps, days)].filter(
    (text) => text !== "",
  );
}

function borrowedInWords({ now, without_borrowing }: QuotaPriceResult): string {
  if (now === null) return "It had no jobs here, and is guaranteed nothing.";
  if (without_borrowing === null) return "It is guaranteed nothing: all that it had was borrowed.";
  const { job_hours_saved: saved, team } = without_borrowing;
  if (saved !== null) {
    return saved < -WORTH_HOURS
      ? `What it borrowed saved ${(-saved).toFixed(1)} hours of its jobs.`
      : "Borrowed GPUs made no difference to its jobs.";
  }
  return `Without borrowing, ${String(team?.finished ?? 0)} of its ${plural(now.finished, "job")} would have ended.`;
}

function oneMoreInWords(steps: readonly PriceStep[], days: number): string {
  const saved = steps.find(({ gpus }) => gpus === 1)?.job_hours_saved ?? null;
  if (saved === null) return "";
  const aWeek = (saved * DAYS_OF_WEEK) / days;
  return aWeek > WORTH_HOURS
    ? `One GPU more would have saved ${aWeek.toFixed(1)} hours of its jobs a week.`
    : "One GPU more would have saved nothing.";
}

function noteOf({ adds_gpus, others }: PriceStep): string {
  const known = others.map((one) => one.job_hours_saved);
  const theirs = known.includes(null)
    ? 0
    : known.reduce<number>((sum, hours) => sum + (hours ?? 0), 0);
  return [
    Math.abs(theirs) < WORTH_HOURS ? "" : `others: ${jobHours(theirs)}`,
    adds_gpus > 0 ? `${formatGpus(adds_gpus)} of them bought` : "",
  ]
    .filter((text) => text !== "")
    .join(" · ");
}
