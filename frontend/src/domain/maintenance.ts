/** What may be asked of a node, and what becomes of the jobs that are there? */

import type { LeavingJob } from "../api/types";
import { formatGpus, plural } from "./format";

export type Maintenance = "cordon" | "drain" | "uncordon";

/** Why a node takes no new work; `open`: it does. */
export type Condition = "open" | "cordoned" | "draining" | "silent";

interface NodeService {
  readonly is_schedulable: boolean;
  readonly is_draining: boolean;
  readonly silent_since: string | null;
}

/** A silent node is called so whatever else was asked of it. */
export function conditionOf(node: NodeService): Condition {
  if (node.silent_since !== null) return "silent";
  if (node.is_draining) return "draining";
  return node.is_schedulable ? "open" : "cordoned";
}

/** What makes sense to ask of it now. */
export function offered(node: NodeService): Maintenance[] {
  if (node.is_draining) return ["uncordon"];
  return node.is_schedulable ? ["cordon", "drain"] : ["drain", "uncordon"];
}

/** What becomes of a job if this is done; where others want the same room, it may come otherwise. */
export function fateOf(job: LeavingJob, what: Maintenance): string {
  if (what !== "drain") return "may stay, and leaves this node first when it shrinks";
  if (!job.can_move) {
    return job.without_room === "stays"
      ? "stays until it ends: it can neither move nor be paused"
      : "pauses, and starts again elsewhere when there is room: it cannot move";
  }
  const otherwise = withoutRoom(job);
  if (job.workers_with_room === 0) return otherwise;
  const isCramped = job.workers_with_room < job.workers_here;
  const howFar = isCramped ? "moves as far as there is room" : "moves";
  return `${howFar}; if the room is taken, it ${otherwise}`;
}

function withoutRoom(job: LeavingJob): string {
  switch (job.without_room) {
    case "shrinks":
      return `shrinks to ${plural(job.workers_elsewhere, "worker")} elsewhere`;
    case "pauses":
      return "pauses after a checkpoint until there is room";
    case "stays":
      return "stays until it ends: it may not be paused";
  }
}

/** The room that there is for whoever has to leave. */
export function roomElsewhere(gpusFreeElsewhere: number): string {
  return gpusFreeElsewhere === 0
    ? "No other node of the pool has a free GPU."
    : `Other nodes of the pool have ${formatGpus(gpusFreeElsewhere)} free.`;
}
