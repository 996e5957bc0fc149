/** How does a team's budget of a month look as a bar, and what does a filled-in form change? */

import type { TeamBudget, TeamChanges, TeamDetail } from "../api/types";
import { formatGpuHours } from "./format";
import { text } from "./secrets";

/** What becomes of jobs; the API's words are codes. */
export const WHEN_USED_UP: Record<TeamBudget["then"], string> = {
  no_new: "no queued job starts; those that run go on",
  pause: "running jobs pause, and none starts",
};

/** Shares of the bar's width; it is as long as the budget, or as the forecast if that is more. */
export interface BudgetBar {
  readonly used: number;
  readonly forecast: number;
  readonly near: number;
  readonly end: number;
}

export function budgetBar(budget: TeamBudget): BudgetBar {
  const { gpu_hours, used_gpu_hours, forecast_gpu_hours, near_gpu_hours } = budget;
  const whole = Math.max(gpu_hours, used_gpu_hours, forecast_gpu_hours);
  return {
    used: used_gpu_hours / whole,
    forecast: Math.max(forecast_gpu_hours, used_gpu_hours) / whole,
    near: near_gpu_hours / whole,
    end: gpu_hours / whole,
  };
}

/** The bar's numbers as words, for those who do not see it. */
export function budgetWords(budget: TeamBudget): string {
  const { gpu_hours, used_gpu_hours, forecast_gpu_hours } = budget;
  const used = `${formatGpuHours(used_gpu_hours)} of ${formatGpuHours(gpu_hours)} GPU-hours used`;
  return `${used}, ${formatGpuHours(forecast_gpu_hours)} by the end of the month as it goes now`;
}

/** Fields of the form are there for those who may change them; an empty one is no limit. */
export function limitChangesOf(form: FormData): TeamChanges {
  const changes: TeamChanges = {};
  for (const name of NUMBERS) {
    if (form.has(name)) changes[name] = numberOf(form, name);
  }
  const then = text(form, "when_used_up");
  if (then === "no_new" || then === "pause") changes.when_used_up = then;
  return changes;
}

const NUMBERS = [
  "max_running_jobs",
  "max_running_jobs_per_user",
  "max_queued_jobs_per_user",
  "max_gpus_per_user",
  "gpu_hours_per_month",
] as const;

type LimitName = (typeof NUMBERS)[number];

/** What a team's limits are called, with what each is now. */
export function limitsOfTeam(
  team: TeamDetail,
): { name: LimitName; label: string; most: number | null }[] {
  return [
    { name: "gpu_hours_per_month", label: "GPU-hours per month", most: team.gpu_hours_per_month },
    { name: "max_running_jobs", label: "Running jobs", most: team.max_running_jobs },
    {
      name: "max_running_jobs_per_user",
      label: "Running jobs per user",
      most: team.max_running_jobs_per_user,
    },
    {
      name: "max_queued_jobs_per_user",
      label: "Waiting jobs per user",
      most: team.max_queued_jobs_per_user,
    },
    { name: "max_gpus_per_user", label: "GPUs per user", most: team.max_gpus_per_user },
  ];
}

function numberOf(form: FormData, name: string): number | null {
  const typed = text(form, name).trim();
  return typed === "" ? null : Number(typed);
}
