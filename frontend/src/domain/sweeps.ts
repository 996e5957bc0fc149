/** How does a sweep stand, in words, and which line does each of its trials have? */

import type { Sweep, SweepCurve, SweepDetail, SweepTrial } from "../api/types";
import type { CurvePoint } from "./curves";
import { formatMetric, plural } from "./format";
import type { Tone } from "./states";
import { toneOf } from "./states";

export interface TrialStatus {
  readonly text: string;
  readonly tone: Tone;
}

export interface TrialLine {
  readonly trial: SweepTrial;
  readonly points: readonly CurvePoint[];
}

/** What of a trial's state matters here: whether it waits at a rung, or was stopped for good. */
export function trialStatus({ state, reason }: SweepTrial): TrialStatus {
  if (reason === "paused_at_rung") return { text: "waits at rung", tone: "warning" };
  if (reason === "stopped_by_sweep") return { text: "stopped", tone: "neutral" };
  return { text: state, tone: toneOf(state) };
}

/** It trains no more, and is not the one that was looked for. */
export function isOutOfIt({ state, reason, is_best }: SweepTrial): boolean {
  return !is_best && (state === "cancelled" || state === "failed" || reason === "paused_at_rung");
}

/** Whether it goes on, and how many of its trials were submitted. */
export function sweepStatus({ ended_at, states, made, trials }: Sweep): TrialStatus {
  const said = `${String(made)} of ${plural(trials, "trial")}`;
  if (ended_at !== null) {
    return (states.completed ?? 0) > 0
      ? { text: `ended after ${said}`, tone: "good" }
      : { text: `ended after ${said}, none of them complete`, tone: "warning" };
  }
  return { text: `goes on, ${said}`, tone: "info" };
}

/** `lr 0.03, width 32`. */
export function valuesText(trial: Pick<SweepTrial, "values">): string {
  const pairs = Object.entries(trial.values as Record<string, unknown>);
  return pairs.map(([name, value]) => `${name} ${valueText(value)}`).join(", ");
}

export function valueText(value: unknown): string {
  return typeof value === "number" ? formatMetric(value) : String(value);
}

/** The newest value; null where none was logged, or it was no number at its rung. */
export function metricText({ value, marks }: SweepTrial): string {
  if (value !== null) return formatMetric(value);
  return marks.length > 0 ? "no number" : "–";
}

/** The curve of each trial, as far as it is known; else its values at rungs. */
export function trialLines(
  { items }: SweepDetail,
  curves: readonly SweepCurve[],
): readonly TrialLine[] {
  const known = new Map(curves.map((curve) => [curve.job_id, curve]));
  return items
    .map((trial) => ({ trial, points: pointsOf(trial, known.get(trial.id)) }))
    .filter(({ points }) => points.length > 0);
}

function pointsOf(trial: SweepTrial, curve: SweepCurve | undefined): readonly CurvePoint[] {
  if (curve !== undefined && curve.values.length > 0) {
    return curve.resources.map((place, which) => [place, curve.values[which] ?? 0]);
  }
  return trial.marks.flatMap(({ resource, value }) => (value === null ? [] : [[resource, value]]));
}

/** The best first, then those that came furthest with the better values. */
export function inOrder(sweep: SweepDetail): readonly SweepTrial[] {
  const sign = sweep.goal === "min" ? 1 : -1;
  const height = (trial: SweepTrial) => (trial.value === null ? Infinity : sign * trial.value);
  return sweep.items.toSorted(
    (one, other) =>
      Number(other.is_best) - Number(one.is_best) ||
      (other.rung ?? -1) - (one.rung ?? -1) ||
      compared(height(one), height(other)) ||
      one.number - other.number,
  );
}

function compared(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
