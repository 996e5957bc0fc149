/** What is asked of the simulator, and how is what came out told? */

import type { SimulatedRun, SimulationDetail, SimulationWish } from "../api/types";
import { csvOf, type CsvValue } from "./csv";
import {
  formatCount,
  formatDuration,
  formatGpuHours,
  formatGpus,
  formatMetric,
  formatPercent,
  plural,
} from "./format";
import { text } from "./secrets";
import type { Tone } from "./states";

export type Source = SimulationWish["trace"]["kind"];

/** What the form shows at first. */
export interface Draft {
  readonly title: string;
  readonly kind: Source;
  readonly days: number;
  readonly pattern: SimulationWish["trace"]["pattern"];
  readonly mix: SimulationWish["trace"]["mix"];
  readonly jobs: number;
  readonly load: number;
  readonly pool: string;
  readonly policies: readonly string[];
  readonly addGpus: number;
  /** What was asked before beyond what the form asks about. */
  readonly others: Partial<SimulationWish>;
}

const USUAL: Omit<Draft, "policies" | "pool" | "kind"> = {
  title: "",
  days: 7,
  pattern: "poisson",
  mix: "production",
  jobs: 160,
  load: 0.8,
  addGpus: 0,
  others: {},
};
const LONGEST_PAST = 90; // days
const DAY = 86_400_000; // milliseconds

/** A first wish: the last days if one may, under the pool's policy and what is not elastic. */
export function firstDraft(
  pool: { readonly name: string; readonly policy: string } | undefined,
  mayReadPast: boolean,
): Draft {
  const policies = [...new Set([pool?.policy ?? "completion_time", "static"])];
  const kind = mayReadPast ? "history" : "generated";
  return { ...USUAL, kind, pool: pool?.name ?? "default", policies };
}

/** How many days back a time that somebody looks at began, as the service counts them. */
export function daysSince(from: number, now: number): number {
  return Math.min(LONGEST_PAST, Math.max(0.05, Math.ceil(((now - from) / DAY) * 100) / 100));
}

/** What was asked once, to be asked again; an uploaded text is not kept by a form. */
export function draftOf({ title, request }: SimulationDetail): Draft {
  const { trace, pool, policies, add_gpus: addGpus, ...others } = request;
  const { kind, days = USUAL.days, pattern, mix, jobs, load } = trace;
  return { title, kind, days, pattern, mix, jobs, load, pool, policies, addGpus, others };
}

/** What a filled-in form asks for; `uploaded` is the text of the chosen file. */
export function wishOf(
  form: FormData,
  uploaded: string,
  asked: Draft["others"] = {},
): SimulationWish {
  const kind = text(form, "kind") as Source;
  const trace: SimulationWish["trace"] = {
    kind,
    pattern: (text(form, "pattern") as Draft["pattern"] | "") || USUAL.pattern,
    mix: (text(form, "mix") as Draft["mix"] | "") || USUAL.mix,
    jobs: Number(text(form, "jobs") || USUAL.jobs),
    load: Number(text(form, "load") || USUAL.load),
    format: "auto",
    ...(kind === "history" && { days: Number(text(form, "days")) }),
    ...(kind === "uploaded" && { text: uploaded }),
  };
  const others = text(form, "others").split(/\s+/);
  const policies = [...form.getAll("policy").map(String), ...others].filter((one) => one !== "");
  return {
    admission: "queueing",
    tick_seconds: 60,
    stall_seconds: 1,
    seed: 0,
    ...asked,
    title: text(form, "title").trim() || titleOf(trace),
    trace,
    policies: [...new Set(policies)],
    pool: text(form, "pool"),
    add_gpus: Number(text(form, "add_gpus") || 0),
  };
}

const LARGEST_FILE = 512 * 1024; // bytes of a body that the service takes

/** Why a file can be no recording, before it is read; null: it may be one. */
export function sizeProblem(size: number): string | null {
  if (size === 0) return "The file is empty. Choose a recording of jobs.";
  if (size <= LARGEST_FILE) return null;
  return "The file has more than 512 KB, which is the most that is taken here. Choose a part of it, or replay it with concertina simulate.";
}

/** Why what stands in a file can be no recording; null: it may be one. */
export function contentProblem(content: string): string | null {
  if (content.includes("\0") || content.includes("\ufffd"))
    return "The file is no text. Choose a recording as CSV or JSON.";
  return content.trim() === "" ? sizeProblem(0) : null;
}

/** The workload in a few words. */
export function titleOf(trace: SimulationWish["trace"]): string {
  if (trace.kind === "history") return `The last ${daysText(trace.days ?? 0)}`;
  if (trace.kind === "uploaded") return "An uploaded workload";
  return `${plural(trace.jobs, `${trace.pattern} job`)} at load ${formatMetric(trace.load)}`;
}

function daysText(days: number): string {
  return days < 1 ? formatDuration(days * 86_400) : plural(days, "day");
}

/** What was asked, for whoever reads what came out, as far as its title does not say it. */
export function askedInWords({ title, request }: SimulationDetail): string {
  const workload = titleOf(request.trace);
  const parts = [...(workload === title ? [] : [workload]), `pool ${request.pool}`];
  const { add_gpus: more } = request;
  if (more !== 0)
    parts.push(`as it is, and with ${formatGpus(Math.abs(more))} ${more > 0 ? "more" : "less"}`);
  return parts.join(" · ");
}

export const STATE_TONES: Readonly<Record<SimulationDetail["state"], Tone>> = {
  queued: "warning",
  running: "info",
  completed: "good",
  failed: "danger",
  cancelled: "neutral",
};

interface Figure {
  readonly title: string;
  readonly about: string;
  readonly value: (run: SimulatedRun) => CsvValue;
  readonly shown: (run: SimulatedRun) => string;
}

/** The columns of the table of runs. */
export const FIGURES: readonly Figure[] = [
  {
    title: "Done",
    about: "Jobs that finished, of all that were submitted",
    value: ({ done }) => done,
    shown: ({ done, jobs }) => `${formatCount(done)} of ${formatCount(jobs)}`,
  },
  seconds("Mean time", "From submission to the end, of finished jobs", "mean_completion_seconds"),
  seconds("Median", "Half of the finished jobs took no longer", "p50_completion_seconds"),
  seconds("p99", "All but one of a hundred took no longer", "p99_completion_seconds"),
  seconds("Mean wait", "From submission to the first start", "mean_wait_seconds"),
  seconds("Makespan", "From the first submission to the last end", "makespan_seconds"),
  {
    title: "GPU-hours",
    about: "That jobs held",
    value: ({ gpu_hours }) => gpu_hours,
    shown: ({ gpu_hours }) => formatGpuHours(gpu_hours),
  },
  share("Used", "Share of all GPU time that jobs held", "utilisation"),
  share("Efficiency", "Speed-up per GPU held", "scaling_efficiency"),
  {
    title: "Rescales",
    about: "Of each job, on average",
    value: ({ rescales_per_job }) => rescales_per_job,
    shown: ({ rescales_per_job }) => formatMetric(rescales_per_job),
  },
  {
    title: "Unfairness",
    about: "Of the job that fared worst: its time, over that alone on its share of the pool",
    value: ({ worst_fairness }) => worst_fairness,
    shown: ({ worst_fairness }) => formatMetric(worst_fairness),
  },
];

function seconds(
  title: string,
  about: string,
  name:
    | "mean_completion_seconds"
    | "p50_completion_seconds"
    | "p99_completion_seconds"
    | "mean_wait_seconds"
    | "makespan_seconds",
): Figure {
  return {
    title,
    about,
    value: (run) => run[name],
    shown: (run) => formatDuration(run[name]),
  };
}

function share(title: string, about: string, name: "utilisation" | "scaling_efficiency"): Figure {
  return { title, about, value: (run) => run[name], shown: (run) => formatPercent(run[name]) };
}

export function runsAsCsv(runs: readonly SimulatedRun[]): string {
  const header = ["run", "jobs", ...FIGURES.map(({ title }) => title.toLowerCase())];
  const rows = runs.map((run) => [run.label, run.jobs, ...FIGURES.map(({ value }) => value(run))]);
  return csvOf(header, rows);
}

/** How long the bar of each run is, in percent of the longest; null: there is no such figure. */
export function barsOf(
  runs: readonly SimulatedRun[],
  name: "mean_completion_seconds" | "mean_wait_seconds",
): readonly (number | null)[] {
  const longest = Math.max(...runs.map((run) => run[name] ?? 0), 0);
  return runs.map((run) => {
    const value = run[name];
    return value === null ? null : longest === 0 ? 0 : (value / longest) * 100;
  });
}
