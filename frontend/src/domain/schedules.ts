/** What is said of a schedule: how did its last run go? */

import type { ScheduleRun } from "../api/types";
import type { Tone } from "./states";

const TONES: Record<ScheduleRun["state"], Tone> = {
  waiting: "busy",
  submitted: "good",
  skipped: "neutral",
  refused: "danger",
  missed: "warning",
  failed: "danger",
};

export function toneOfRun(run: ScheduleRun): Tone {
  return TONES[run.state];
}

/** `0 2 * * * in Europe/Berlin`. */
export function timesInWords(cron: string, zone: string): string {
  return `${cron} in ${zone}`;
}
