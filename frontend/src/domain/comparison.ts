/** Which jobs are compared, and over what are their curves drawn? */

import type { ComparedCurve } from "../api/types";
import type { CurvePoint } from "./curves";
import { formatCount, formatDuration, formatMetric } from "./format";
import { PALETTE_SIZE } from "./teamColours";

export const FEWEST = 2;
export const MOST = 10;

/** The ids that an address names, each once. */
export function idsOf(named: string): string[] {
  return [...new Set(named.split(",").map((id) => id.trim()))].filter((id) => id !== "");
}

export function compareAddress(ids: readonly string[]): string {
  return `/compare?jobs=${ids.join(",")}`;
}

/** What one is called in charts and tables: A, B, C … */
export function letterOf(place: number): string {
  return String.fromCharCode(65 + place);
}

/** Which colour of the palette its curve has; the two beyond it are dashed. */
export function slotOf(place: number): number {
  return place % PALETTE_SIZE;
}

export function isDashed(place: number): boolean {
  return place >= PALETTE_SIZE;
}

export const OVER = [
  { value: "step", text: "Step" },
  { value: "samples", text: "Samples" },
  { value: "time", text: "Time" },
  { value: "gpu-hours", text: "GPU-hours" },
] as const;
export type Over = (typeof OVER)[number]["value"];

/** Work that was lost and done again is drawn as it was done last. */
export function comparedCurve(curve: ComparedCurve, over: Over): CurvePoint[] {
  const places = placesOf(curve, over);
  const points: CurvePoint[] = [];
  curve.values.forEach((value, at) => {
    const place = places[at] ?? null;
    if (place === null) return;
    while ((points.at(-1)?.[0] ?? -Infinity) >= place) points.pop();
    points.push([place, value]);
  });
  return points;
}

function placesOf(curve: ComparedCurve, over: Over): readonly (number | null)[] {
  switch (over) {
    case "step":
      return curve.steps;
    case "samples":
      return curve.samples;
    case "time":
      return curve.seconds;
    case "gpu-hours":
      return curve.gpu_hours;
  }
}

export function placeText(place: number, over: Over): string {
  switch (over) {
    case "time":
      return formatDuration(place);
    case "gpu-hours":
      return `${formatMetric(place)} GPU-h`;
    case "step":
    case "samples":
      return formatCount(place);
  }
}

/** What is measured of every script; in an address with a colon, which tells it from a metric. */
export const MEASURES = [
  { value: "samples_per_second", text: "Throughput, samples/s" },
  { value: "step_seconds", text: "Step time, s" },
  { value: "learning_rate", text: "Learning rate" },
] as const;
export type Measure = (typeof MEASURES)[number]["value"];

export interface Wanted {
  readonly metric: string;
  readonly measure: Measure | null;
}

export function wantedOf(named: string): Wanted {
  const measure = MEASURES.find(({ value }) => named === `:${value}`);
  return measure === undefined
    ? { metric: named, measure: null }
    : { metric: "", measure: measure.value };
}

/** What the curves are of, as a person reads it; empty: of nothing. */
export function nameOf({ measure }: Wanted, metric: string): string {
  return MEASURES.find(({ value }) => value === measure)?.text ?? metric;
}
