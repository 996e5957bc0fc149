/** Which curves can be drawn from a job's metrics? */

import type { MetricPoint } from "../api/types";
import type { Change } from "./changes";
import { milliseconds } from "./time";

/** At which place of the axis, a moment in milliseconds for example, a value was measured. */
export type CurvePoint = readonly [place: number, value: number];

/** What curves are drawn over. */
export const AXES = ["time", "step", "samples"] as const;
export type Axis = (typeof AXES)[number];

/** Where workers and batch changed. */
export interface Border {
  readonly place: number;
  readonly workers: number;
  readonly batch: number;
}

/** What is measured of every script that trains by steps. */
export interface Pace {
  readonly name: string;
  readonly unit: string;
  readonly of: (point: MetricPoint) => number;
}

const PACES: readonly Pace[] = [
  { name: "Throughput", unit: "samples/s", of: (point) => point.samples_per_second },
  { name: "Step time", unit: "s", of: (point) => point.step_seconds },
  { name: "Communication", unit: "% of a step", of: communicationShare },
  { name: "Learning rate", unit: "", of: (point) => point.learning_rate },
];

function communicationShare(point: MetricPoint): number {
  const busy = point.compute_seconds + point.communication_seconds;
  return busy > 0 ? (100 * point.communication_seconds) / busy : 0;
}

/** Those that say something: a script that is only watched has neither steps nor a learning rate. */
export function pacesOf(points: readonly MetricPoint[]): readonly Pace[] {
  return PACES.filter((pace, at) => at === 0 || points.some((point) => pace.of(point) > 0));
}

/** The loss first, then everything else the script logged, by name. */
export function metricNames(points: readonly MetricPoint[]): string[] {
  const names = new Set(points.flatMap((point) => Object.keys(point.values)));
  return [...names].toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

function rank(name: string): number {
  if (name === "loss") return 0;
  return name.endsWith("loss") ? 1 : 2;
}

/** The loss of a job that calls it so, else the first metric it logs. */
export function mainMetric(values: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(values).filter((name) => typeof values[name] === "number");
  return names.toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))[0] ?? null;
}

/** Work that was lost and done again is drawn as it was done last. */
export function curveOf(
  points: readonly MetricPoint[],
  value: (point: MetricPoint) => number | null | undefined,
  axis: Axis,
): CurvePoint[] {
  const curve: CurvePoint[] = [];
  for (const point of points) {
    const place = placeOf(point, axis);
    while ((curve.at(-1)?.[0] ?? -Infinity) >= place) curve.pop();
    const found = value(point);
    if (typeof found === "number" && Number.isFinite(found)) curve.push([place, found]);
  }
  return curve;
}

/**
 * Where changes lie on the axis: with the first value that was measured after each. Those of work
 * that was lost and done again are left out, as their values are.
 */
export function bordersOf(
  changes: readonly Change[],
  points: readonly MetricPoint[],
  axis: Axis,
): Border[] {
  if (axis === "time") return changes.map(({ at, ...change }) => borderAt(at, change));
  const borders: Border[] = [];
  for (const { at, ...change } of changes) {
    const next = points.find((point) => milliseconds(point.at) >= at);
    if (next === undefined) break;
    const place = placeOf(next, axis);
    while ((borders.at(-1)?.place ?? -Infinity) >= place) borders.pop();
    borders.push(borderAt(place, change));
  }
  return borders;
}

function borderAt(place: number, { workers, batch }: Pick<Change, "workers" | "batch">): Border {
  return { place, workers, batch };
}

function placeOf(point: MetricPoint, axis: Axis): number {
  return axis === "time" ? milliseconds(point.at) : point[axis];
}

/** An SVG path over a `width` × `height` box; empty for fewer than two points. */
export function sparklinePath(values: readonly number[], width: number, height: number): string {
  if (values.length < 2) return "";
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  return values
    .map((value, index) => {
      const x = (index / (values.length - 1)) * width;
      const y = height - ((value - low) / span) * height;
      return `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}

/** How much of the past a smoothed point keeps: higher is calmer and later. A guess. */
const KEPT = 0.75;

/** An exponential mean that is not pulled towards zero at the start. */
export function smooth(points: readonly CurvePoint[], kept: number = KEPT): CurvePoint[] {
  let mean = 0;
  let weight = 0;
  return points.map(([at, value]) => {
    mean = mean * kept + value * (1 - kept);
    weight = weight * kept + (1 - kept);
    return [at, mean / weight] as const;
  });
}
