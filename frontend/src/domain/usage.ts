/** What of a job's use of its nodes can be drawn? */

import type { UsagePoint } from "../api/types";
import type { CurvePoint } from "./curves";
import { milliseconds } from "./time";

const GIB = 2 ** 30;

export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly of: (point: UsagePoint) => number | null;
}

/** GPUs first: they are what others wait for. */
const MEASURES: readonly Measure[] = [
  { name: "GPU use", unit: "%", of: (point) => scaled(point.gpu_utilisation, 100) },
  { name: "GPU memory", unit: "GiB", of: (point) => scaled(point.gpu_memory_bytes, 1 / GIB) },
  { name: "Power", unit: "W", of: (point) => point.gpu_power_watts },
  { name: "CPU", unit: "cores", of: (point) => point.cpu_cores },
  { name: "Memory", unit: "GiB", of: (point) => scaled(point.memory_bytes, 1 / GIB) },
];

/** Those of which something was read. */
export function measuresOf(points: readonly UsagePoint[]): Measure[] {
  return MEASURES.filter((measure) => points.some((point) => measure.of(point) !== null));
}

export function usageCurve(points: readonly UsagePoint[], measure: Measure): CurvePoint[] {
  return points.flatMap((point) => {
    const value = measure.of(point);
    return value === null ? [] : [[milliseconds(point.at), value] as const];
  });
}

function scaled(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor;
}
