/** What a job's spec lets it use up before it is ended, and how much of that is used up. */

import type { JobDetail } from "../api/types";
import { formatDuration } from "./format";

/** The service tells people from this share on. */
const NEAR = 0.8;
const SECONDS_PER_HOUR = 3600;

const SECONDS_BY_UNIT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

export interface LimitOfUse {
  readonly words: string;
  readonly isNear: boolean;
}

type Used = Pick<JobDetail, "gpu_seconds" | "held_seconds" | "resolved_spec">;

export function limitsOfUse({ gpu_seconds, held_seconds, resolved_spec }: Used): LimitOfUse[] {
  const { budget_gpu_hours: budget, max_duration: most } = resolved_spec;
  const limits: LimitOfUse[] = [];
  if (typeof budget === "number") {
    const share = gpu_seconds / SECONDS_PER_HOUR / budget;
    limits.push({ words: `of at most ${String(budget)} GPU-h`, isNear: share >= NEAR });
  }
  if (typeof most === "string") {
    limits.push({
      words: `held for ${formatDuration(held_seconds)} of at most ${most}`,
      isNear: held_seconds >= NEAR * secondsOf(most),
    });
  }
  return limits;
}

/** Of a duration as the service writes it: `90s`, `12h`. */
function secondsOf(duration: string): number {
  return Number.parseFloat(duration) * (SECONDS_BY_UNIT[duration.at(-1) ?? ""] ?? Infinity);
}
