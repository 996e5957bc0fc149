/** What does a job's state mean on screen: its word, its tone, and what may be done in it? */

import type { Job, JobDetail } from "../api/types";

export type State = Job["state"];
export type Tone = "neutral" | "good" | "info" | "busy" | "warning" | "danger";
export type JobAction = "pause" | "resume" | "cancel";

export const ACTIVE: readonly State[] = ["starting", "running", "rescaling", "stopping"];
export const WAITING: readonly State[] = ["queued", "paused"];
export const FINAL: readonly State[] = ["completed", "failed", "cancelled"];
/** In the order of a job's life. */
export const STATES: readonly State[] = [...WAITING, ...ACTIVE, ...FINAL];

const TONES: Record<State, Tone> = {
  queued: "warning",
  starting: "info",
  running: "good",
  rescaling: "busy",
  paused: "neutral",
  stopping: "neutral",
  completed: "good",
  failed: "danger",
  cancelled: "neutral",
};

const ACTIONS: Record<State, readonly JobAction[]> = {
  queued: ["pause", "cancel"],
  starting: ["pause", "cancel"],
  running: ["pause", "cancel"],
  rescaling: ["pause", "cancel"],
  paused: ["resume", "cancel"],
  stopping: [],
  completed: [],
  failed: [],
  cancelled: [],
};

export function toneOf(state: State): Tone {
  return TONES[state];
}

/** The actions that the service would accept in this state. */
export function actionsFor(state: State): readonly JobAction[] {
  return ACTIONS[state];
}

/** What of a job goes may be decided once it is over; of a pinned one nothing goes. */
export function isDeletable(job: Pick<JobDetail, "state" | "is_pinned">): boolean {
  return isFinal(job.state) && !job.is_pinned;
}

export function isFinal(state: State): boolean {
  return FINAL.includes(state);
}

/** States in which something changes within seconds, so that a mark may pulse. */
export function isLively(state: State): boolean {
  return state === "starting" || state === "running" || state === "rescaling";
}
