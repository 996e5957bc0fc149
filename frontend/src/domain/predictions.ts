/** What was predicted of a job, and how good are predictions? In words. */

import type { Calibration, Job, PredictedSpan } from "../api/types";
import { formatDuration } from "./format";
import { milliseconds } from "./time";

/** The middle and the 10 to 90 % range of a predicted moment, seen from `now`. */
export interface SpanInWords {
  readonly middle: string;
  readonly range: string;
}

export function describeSpan(span: PredictedSpan, now: number): SpanInWords {
  const low = secondsUntil(span.p10, now);
  const high = secondsUntil(span.p90, now);
  const middle = secondsUntil(span.p50, now);
  return {
    middle: middle === null ? "not soon" : `in ${formatDuration(middle)}`,
    range: rangeInWords(low, high),
  };
}

function rangeInWords(low: number | null, high: number | null): string {
  if (low === null) return "later than was looked ahead";
  if (high === null) return `${formatDuration(low)} or more`;
  return `${formatDuration(low)} to ${formatDuration(high)}`;
}

/** Whole seconds: more digits would promise more than a prediction holds. */
function secondsUntil(moment: string | null, now: number): number | null {
  if (moment === null) return null;
  return Math.max(Math.round((milliseconds(moment) - now) / 1000), 0);
}

/** As predicted from the plan; until it is, what would be left at the speed of now. */
export function describeTimeLeft(
  job: Pick<Job, "prediction" | "eta_seconds">,
  now: number,
): string | null {
  const predicted = job.prediction?.finish ?? null;
  if (predicted !== null) {
    const seconds = secondsUntil(predicted.p50, now);
    return seconds === null ? null : `${formatDuration(seconds)} left`;
  }
  if (job.eta_seconds === null) return null;
  return `${formatDuration(job.eta_seconds)} left at the present speed`;
}

export function describeCalibration(calibration: Calibration): string {
  const { held, outcomes, is_rough: isRough } = calibration;
  if (outcomes === 0) return "Predicted ranges are rough: nothing to hold them against yet";
  const share = `Predicted ranges held ${String(held)} of ${String(outcomes)} times`;
  return isRough ? `${share}; rough until more jobs have ended` : share;
}

interface Outcome {
  readonly predictedGain: number | null;
  readonly measuredGain: number | null;
}

/** `predicted +31 %, measured +27 %`; empty where neither is known. */
export function describeGain({ predictedGain, measuredGain }: Outcome): string {
  const parts: string[] = [];
  if (predictedGain !== null) parts.push(`predicted ${signedPercent(predictedGain)}`);
  if (measuredGain !== null) parts.push(`measured ${signedPercent(measuredGain)}`);
  return parts.join(", ");
}

export function signedPercent(gain: number): string {
  const percent = Math.round(gain * 100);
  return `${percent > 0 ? "+" : percent < 0 ? "−" : "±"}${String(Math.abs(percent))} %`;
}
