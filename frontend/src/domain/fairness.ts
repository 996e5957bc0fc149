/** Why was a team not given what it was owed? Added up over pools, as its page tells it. */

import type { FairnessReceipt } from "../api/types";

export interface CauseOfShortfall {
  readonly cause: string;
  readonly label: string;
  readonly gpuSeconds: number;
  readonly pools: readonly string[]; // the one with the most first
}

/** The largest first; those of the same size in the order of their words. */
export function causesOf({ missing }: Pick<FairnessReceipt, "missing">): CauseOfShortfall[] {
  const found = new Map<string, CauseOfShortfall>();
  for (const { cause, label, gpu_seconds, pool } of missing) {
    const known = found.get(cause);
    found.set(cause, {
      cause,
      label,
      gpuSeconds: (known?.gpuSeconds ?? 0) + gpu_seconds,
      pools: [...(known?.pools ?? []), pool],
    });
  }
  return [...found.values()].sort(
    (one, other) => other.gpuSeconds - one.gpuSeconds || one.label.localeCompare(other.label),
  );
}
