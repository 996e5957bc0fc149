/** What was predicted of a job, and how good are predictions? In words. */

import type { Calibration, Job, Lately, PredictedSpan, Prediction } from "../api/types";
import { formatDuration } from "./format";
import { milliseconds } from "./time";

/** The middle and the 10 to 90 % range of a predicted moment, seen from `now`. */
export interface SpanInWords {
  readonly middle: string;
  readonly range: string;
}

/** A moment that has passed is told to have passed: what is predicted is some seconds old. */
export function describeSpan(span: PredictedSpan, now: number): SpanInWords {
  const middle = secondsUntil(span.p50, now);
  return {
    middle:
      middle === null ? "not soon" : middle > 0 ? `in ${formatDuration(middle)}` : "any moment",
    range: rangeInWords(secondsUntil(span.p10, now), secondsUntil(span.p90, now)),
  };
}

function rangeInWords(low: number | null, high: number | null): string {
  if (low === null) return "probably later than was looked ahead";
  if (high === null) return low > 0 ? `probably ${formatDuration(low)} or more` : "from now on";
  if (high <= 0) return "later than was predicted";
  if (low <= 0) return `probably within ${formatDuration(high)}`;
  return `probably ${formatDuration(low)} to ${formatDuration(high)}`;
}

/** Whole seconds: more digits would promise more than a prediction holds. Below 0: it has passed. */
function secondsUntil(moment: string | null, now: number): number | null {
  return moment === null ? null : Math.round((milliseconds(moment) - now) / 1000);
}

/** `as of 1 min 20 s ago` of an old prediction; empty of one that still holds. */
export function describeAge(
  prediction: Pick<Prediction, "made_at" | "old_at">,
  now: number,
): string {
  if (milliseconds(prediction.old_at) > now) return "";
  return `as of ${formatDuration(-(secondsUntil(prediction.made_at, now) ?? 0))} ago`;
}

/** As predicted from the plan; until it is, what would be left at the speed of now. */
export function describeTimeLeft(
  job: Pick<Job, "prediction" | "eta_seconds">,
  now: number,
): string | null {
  const predicted = job.prediction?.finish ?? null;
  if (predicted !== null) {
    const seconds = secondsUntil(predicted.p50, now);
    if (seconds === null) return null;
    if (seconds > 0) return `${formatDuration(seconds)} left`;
    const latest = secondsUntil(predicted.p90, now);
    return latest !== null && latest <= 0 ? "longer than was predicted" : "ends any moment";
  }
  if (job.eta_seconds === null) return null;
  if (job.eta_seconds < 1) return "ends any moment";
  return `${formatDuration(job.eta_seconds)} left at the present speed`;
}

/** How the last ranges of its kind did; empty where none has come true or false yet. */
export function describeLately(lately: Lately | null | undefined): string {
  if (lately == null) return "";
  const { held, outcomes } = lately;
  if (outcomes === 1) {
    return `the last job like it ${held === 1 ? "ended" : "did not end"} in its range`;
  }
  return `${String(held)} of the last ${String(outcomes)} jobs like it ended in their range`;
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
