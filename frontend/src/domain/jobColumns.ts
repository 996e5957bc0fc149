/** Which columns can a table of jobs have, and what stands in each when it is copied? */

import type { Job } from "../api/types";
import { mainMetric } from "./curves";
import { csvOf, type CsvValue } from "./csv";
import type { JobOrder } from "./jobFilter";

export interface JobColumn {
  readonly id: string;
  readonly title: string;
  /** Its name in CSV, with its unit. */
  readonly csv: string;
  readonly value: (job: Job) => CsvValue;
  /** A track of the grid. */
  readonly width: string;
  readonly isNumber?: boolean;
  /** What the list can be ordered by. */
  readonly order?: JobOrder;
}

export const JOB_COLUMNS: readonly JobColumn[] = [
  {
    id: "name",
    title: "Name",
    csv: "name",
    value: ({ name }) => name,
    width: "minmax(190px, 1.2fr)",
  },
  { id: "state", title: "State", csv: "state", value: ({ state }) => state, width: "112px" },
  { id: "team", title: "Team", csv: "team", value: ({ team }) => team, width: "124px" },
  {
    id: "person",
    title: "Person",
    csv: "submitted_by",
    value: (job) => job.submitted_by,
    width: "124px",
  },
  { id: "pool", title: "Pool", csv: "pool", value: ({ pool }) => pool, width: "96px" },
  {
    id: "labels",
    title: "Labels",
    csv: "labels",
    value: ({ labels }) => labelsOf(labels).join(" "),
    width: "minmax(150px, 0.8fr)",
  },
  {
    id: "submitted",
    title: "Submitted",
    csv: "submitted_at",
    value: (job) => job.submitted_at,
    width: "108px",
    order: "submitted",
  },
  {
    id: "started",
    title: "Started",
    csv: "started_at",
    value: (job) => job.started_at,
    width: "108px",
  },
  {
    id: "ended",
    title: "Ended",
    csv: "finished_at",
    value: (job) => job.finished_at,
    width: "108px",
    order: "recent",
  },
  {
    id: "took",
    title: "Took",
    csv: "completion_seconds",
    value: (job) => job.completion_seconds,
    width: "100px",
    isNumber: true,
  },
  {
    id: "gpu-time",
    title: "GPU time",
    csv: "gpu_seconds",
    value: (job) => job.gpu_seconds,
    width: "116px",
    isNumber: true,
  },
  {
    id: "workers",
    title: "Workers",
    csv: "workers",
    value: ({ workers }) => workers,
    width: "92px",
    isNumber: true,
  },
  {
    id: "progress",
    title: "Progress",
    csv: "progress",
    value: ({ progress }) => progress,
    width: "76px",
    isNumber: true,
  },
  {
    id: "metric",
    title: "Metric",
    csv: "metric",
    value: ({ values }) => metricOf(values)?.value ?? null,
    width: "116px",
    isNumber: true,
  },
  {
    id: "rescales",
    title: "Rescales",
    csv: "rescales",
    value: ({ rescales }) => rescales,
    width: "76px",
    isNumber: true,
  },
  {
    id: "stall",
    title: "Stalled",
    csv: "stall_seconds",
    value: (job) => job.stall_seconds,
    width: "84px",
    isNumber: true,
  },
  {
    id: "priority",
    title: "Priority",
    csv: "priority",
    value: ({ priority }) => priority,
    width: "70px",
    isNumber: true,
  },
  {
    id: "message",
    title: "What happened",
    csv: "message",
    value: ({ message }) => message,
    width: "minmax(220px, 2fr)",
  },
  { id: "id", title: "Id", csv: "id", value: ({ id }) => id, width: "116px" },
];

/** They fit into a window of 1280 pixels. */
const USUAL = ["name", "state", "team", "person", "submitted", "ended", "took", "message"];

/** Those that an address names, in their own order, and always the name. */
export function columnsOf(named: string | null): readonly string[] {
  if (named === null) return USUAL;
  const wanted = new Set(["name", ...named.split(",")]);
  return JOB_COLUMNS.map(({ id }) => id).filter((id) => wanted.has(id));
}

/** As an address names them; null: the usual ones. */
export function namedColumns(columns: readonly string[]): string | null {
  const kept = columnsOf(columns.join(","));
  return kept.join(",") === USUAL.join(",") ? null : kept.join(",");
}

export function labelsOf(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}

export function metricOf(
  values: Job["values"],
): { readonly name: string; readonly value: number } | null {
  const name = mainMetric(values);
  const value = name === null ? null : values[name];
  return name === null || typeof value !== "number" ? null : { name, value };
}

/** With the id, which finds a job whatever it is called. */
export function jobsAsCsv(jobs: readonly Job[], columns: readonly string[]): string {
  const shown = JOB_COLUMNS.filter(({ id }) => id === "id" || columns.includes(id));
  return csvOf(
    shown.map(({ csv }) => csv),
    jobs.map((job) => shown.map(({ value }) => value(job))),
  );
}
