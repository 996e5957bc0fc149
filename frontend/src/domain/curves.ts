/** Which curves can be drawn from a job's metrics? */

import type { MetricPoint } from "../api/types";
import { milliseconds } from "./time";

export type CurvePoint = readonly [at: number, value: number];

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

export function curveOf(points: readonly MetricPoint[], name: string): CurvePoint[] {
  return points.flatMap((point) => {
    const value = point.values[name];
    return typeof value === "number" && Number.isFinite(value)
      ? [[milliseconds(point.at), value] as const]
      : [];
  });
}

export function throughputOf(points: readonly MetricPoint[]): CurvePoint[] {
  return points.map((point) => [milliseconds(point.at), point.samples_per_second] as const);
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
