/** In what do jobs differ, and how did they end? Tables with a column for each. */

import type { ComparedJob } from "../api/types";
import { csvOf, type CsvValue } from "./csv";
import { formatCount, formatDuration, formatGpuTime, formatMetric, NONE } from "./format";
import { milliseconds } from "./time";

/** Of losses and errors the lowest is the best, of all else the highest. */
const LESS_IS_BETTER = /loss|err|perplexity|ppl|mse|mae|nll|step time|latency/i;

export function isLessBetter(name: string): boolean {
  return LESS_IS_BETTER.test(name);
}

/** A row of a table with a column for each job. */
export interface ComparedRow {
  readonly title: string;
  readonly texts: readonly string[];
  /** For other programs: exact, and without units. */
  readonly csv: string;
  readonly values: readonly CsvValue[];
}

function row<Value extends CsvValue>(
  title: string,
  csv: string,
  values: readonly Value[],
  write: (value: Value) => string,
): ComparedRow {
  return { title, csv, values, texts: values.map(write) };
}

function textRow(title: string, csv: string, values: readonly (string | null)[]): ComparedRow {
  return row(title, csv, values, (value) => value ?? NONE);
}

/** How each ended or stands; `name` is what the curves are of. */
export function outcomesOf(
  jobs: readonly ComparedJob[],
  name: string,
  now: number,
): readonly ComparedRow[] {
  const words = (title: string, pick: (job: ComparedJob) => string) =>
    textRow(title, title.toLowerCase(), jobs.map(pick));
  const number = (
    title: string,
    csv: string,
    pick: (job: ComparedJob) => number | null,
    write: (value: number | null) => string,
  ) => row(title, csv, jobs.map(pick), write);
  const best = isLessBetter(name) ? "lowest" : "highest";
  const rows = [
    words("State", ({ state }) => state),
    words("Reason", ({ reason }) => reason.replaceAll("_", " ")),
    number("Took", "seconds", (job) => tookSeconds(job, now), spent),
    number("Waited to start", "waited_seconds", (job) => waitedSeconds(job, now), spent),
    number("Trained", "trained_seconds", (job) => job.trained_seconds, spent),
    number(
      "GPU time",
      "gpu_seconds",
      (job) => job.gpu_seconds,
      (seconds) => formatGpuTime(seconds ?? 0),
    ),
    number("Rescales", "rescales", (job) => job.rescales, formatCount),
    number("Stalled", "stall_seconds", (job) => job.stall_seconds, spent),
    number("Work done again", "lost_work_seconds", (job) => job.lost_work_seconds, spent),
    number("Steps", "steps", (job) => job.step, formatCount),
    number("Samples", "samples", (job) => job.samples, formatCount),
  ];
  if (name === "") return rows;
  return [
    ...rows,
    number(
      `${name}, last`,
      `${name}_last`,
      ({ curve }) => curve.values.at(-1) ?? null,
      formatMetric,
    ),
    number(`${name}, ${best}`, `${name}_${best}`, ({ curve }) => curve[best], formatMetric),
  ];
}

/** Exact where it is nothing: 0.00 s would look like a little. */
function spent(seconds: number | null): string {
  return seconds === 0 ? "0 s" : formatDuration(seconds);
}

function tookSeconds(job: ComparedJob, now: number): number {
  return Math.max(0, (moment(job.finished_at, now) - milliseconds(job.submitted_at)) / 1000);
}

function waitedSeconds(job: ComparedJob, now: number): number {
  const end = job.started_at ?? job.finished_at;
  return Math.max(0, (moment(end, now) - milliseconds(job.submitted_at)) / 1000);
}

function moment(at: string | null, now: number): number {
  return at === null ? now : milliseconds(at);
}

export interface Differences {
  readonly rows: readonly ComparedRow[];
  /** How many fields of the spec are the same in all. */
  readonly same: number;
}

/** What differs in their specs, by field, after who submitted them when. */
export function differencesOf(
  jobs: readonly ComparedJob[],
  momentText: (at: number) => string,
): Differences {
  const specs = jobs.map((job) => flat(job.resolved_spec));
  const fields = [...new Set(specs.flatMap((spec) => [...spec.keys()]))];
  const differing = fields.filter(
    (field) => new Set(specs.map((spec) => spec.get(field))).size > 1,
  );
  const people = new Set(jobs.map((job) => job.submitted_by));
  const submitted = row(
    "Submitted",
    "submitted_at",
    jobs.map((job) => job.submitted_at),
    (at) => momentText(milliseconds(at)),
  );
  return {
    rows: [
      submitted,
      ...(people.size > 1
        ? [
            textRow(
              "Submitted by",
              "submitted_by",
              jobs.map((job) => job.submitted_by),
            ),
          ]
        : []),
      ...differing.map((field) =>
        textRow(
          field,
          field,
          specs.map((spec) => spec.get(field) ?? null),
        ),
      ),
    ],
    same: fields.length - differing.length,
  };
}

/** Each value by the way to it, `elastic.max_workers`; a list of plain values is one. */
export function flat(document: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value) && value.every(isPlain)) {
      if (value.length > 0) found.set(path, value.map(part).join(" "));
    } else if (Array.isArray(value)) {
      value.forEach((one, at) => {
        walk(one, `${path}[${at}]`);
      });
    } else if (typeof value === "object" && value !== null) {
      for (const [name, one] of Object.entries(value))
        walk(one, path === "" ? name : `${path}.${name}`);
    } else if (value !== null && value !== undefined && value !== "") {
      found.set(path, text(value));
    }
  };
  walk(document, "");
  return found;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** In quotes where it has spaces: a list is told from one that is parted elsewhere. */
function part(value: unknown): string {
  const written = text(value);
  return /\s|^$/.test(written) ? JSON.stringify(written) : written;
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

export function rowsAsCsv(
  first: string,
  jobs: readonly ComparedJob[],
  rows: readonly ComparedRow[],
): string {
  return csvOf(
    [first, ...jobs.map(({ name, id }) => `${name} (${id})`)],
    rows.map(({ csv, values }) => [csv, ...values]),
  );
}

/** All curves below each other, with every axis. */
export function curvesAsCsv(jobs: readonly ComparedJob[], name: string): string {
  return csvOf(
    ["job", "id", "step", "samples", "seconds", "gpu_hours", name],
    jobs.flatMap(({ name: job, id, curve }) =>
      curve.values.map((value, at) => [
        job,
        id,
        curve.steps[at] ?? null,
        curve.samples[at] ?? null,
        curve.seconds[at] ?? null,
        curve.gpu_hours[at] ?? null,
        value,
      ]),
    ),
  );
}
