/** What does a reason code say to a person? Unknown codes are shown as words, never hidden. */

import { humanise } from "./format";

const LABELS: Record<string, string> = {
  waiting_for_quota: "Team limit reached",
  waiting_for_fair_share: "Waits for its fair share",
  waiting_for_reclaim: "Lent GPUs are coming back",
  waiting_for_capacity: "Waits for free GPUs",
  behind_higher_priority: "Behind a higher priority",
  fragmented: "Free GPUs are scattered",
  exceeds_limit: "Larger than its limit",
  pending_evaluation: "Not evaluated yet",
  paused_by_user: "Paused by a person",
  job_arrived: "A job arrived",
  job_finished: "A job finished",
  reclaim_guarantee: "Guarantee reclaimed",
  fair_share: "Fair share moved",
  reservation: "Saved up for a large job",
  dropped: "Did not fit, no queue here",
  application_metric: "Its own metric asked",
  batch_retune: "Batch retuned",
  scaling_inefficient: "Scaled too poorly",
  scaling_efficient: "Scales well",
  node_lost: "Worker or node lost",
  node_joined: "Node joined",
  node_drained: "Node is being drained",
  straggler: "Slower than the others",
  defragment: "Moved together",
  user_request: "A person asked",
  best_allocation: "Best allocation",
  cooldown: "Changed a moment ago",
  not_rescalable: "Cannot change now",
  command_not_found: "Command not found",
  planning_failed: "Left out of plans",
  planned_again: "Planned again",
  cannot_start: "Node cannot start it",
  not_registered: "Script did not register",
  job_failed: "Its own code failed",
  ended_early: "Ended before its epochs",
  workers_lost: "Workers lost too often",
  no_progress: "Stood still",
  script_did_not_end: "Trained; its script hung",
  out_of_memory: "Ran out of memory",
  secret_unavailable: "A secret is missing",
  cancelled_by_user: "Cancelled by a person",
  hot: "Rescales without a restart",
  restart: "Rescales by a restart",
};

export function reasonLabel(code: string): string {
  return LABELS[code] ?? humanise(code);
}
