/** How are guarantees of a pool changed, in which order, and what would that have meant? */

import type { Job, PreviewedTeam, TeamOutcome, TeamStanding } from "../api/types";
import { formatDuration, formatGpuHours, formatGpus, plural } from "./format";

/** What somebody wrote, by team; as text, because it may be half typed. */
export type QuotaDraft = Readonly<Record<string, string>>;

export interface TeamRow {
  readonly team: TeamStanding;
  readonly depth: number;
}

/** Each team below the one above it; siblings by name. */
export function treeOf(teams: readonly TeamStanding[]): readonly TeamRow[] {
  const names = new Set(teams.map(({ name }) => name));
  const below = (parent: string | null, depth: number): readonly TeamRow[] =>
    teams
      .filter(({ parent: above }) => (above !== null && names.has(above) ? above : null) === parent)
      .toSorted((one, other) => one.name.localeCompare(other.name))
      .flatMap((team) => [{ team, depth }, ...below(team.name, depth + 1)]);
  return below(null, 0);
}

/** Null: it is no number of GPUs. */
export function gpusOf(text: string): number | null {
  return /^\d{1,5}$/.test(text.trim()) ? Number(text) : null;
}

export interface GuaranteeChange {
  readonly team: string;
  readonly before: number;
  readonly after: number;
}

/** What the draft changes, in an order in which each step can be saved. */
export function changesOf(draft: QuotaDraft, rows: readonly TeamRow[]): readonly GuaranteeChange[] {
  const changes = rows.flatMap(({ team }): readonly GuaranteeChange[] => {
    const after = gpusOf(draft[team.name] ?? "");
    return after === null || after === team.guaranteed
      ? []
      : [{ team: team.name, before: team.guaranteed, after }];
  });
  return inOrder(changes, rows);
}

/** What gives GPUs up comes first, from below; then what takes them, from above. */
export function inOrder(
  changes: readonly GuaranteeChange[],
  rows: readonly TeamRow[],
): readonly GuaranteeChange[] {
  const place = (change: GuaranteeChange) =>
    rows.findIndex(({ team }) => team.name === change.team);
  const sorted = changes.toSorted((one, other) => place(one) - place(other));
  return [
    ...sorted.filter(({ before, after }) => after < before).toReversed(),
    ...sorted.filter(({ before, after }) => after >= before),
  ];
}

export function takenBack(changes: readonly GuaranteeChange[]): readonly GuaranteeChange[] {
  return changes.map(({ team, before, after }) => ({ team, before: after, after: before }));
}

/** GPUs that a team holds beyond what it would be guaranteed, if that became less. */
export interface HeldBeyond {
  readonly team: string;
  readonly gpus: number;
  /** Running jobs that hold them, the least important and youngest first; null: not for the reader. */
  readonly jobs: readonly string[] | null;
}

export function heldBeyond(
  changes: readonly GuaranteeChange[],
  rows: readonly TeamRow[],
  running: readonly Job[],
): readonly HeldBeyond[] {
  return changes.flatMap(({ team, before, after }) => {
    const standing = rows.find((row) => row.team.name === team)?.team;
    if (standing === undefined || after >= before) return [];
    const gpus = standing.allocated - Math.max(after, 0);
    if (gpus <= 0) return [];
    return [{ team, gpus, jobs: standing.is_mine ? jobsHolding(team, gpus, running) : null }];
  });
}

function jobsHolding(team: string, gpus: number, running: readonly Job[]): readonly string[] {
  const own = running
    .filter((job) => job.team === team && job.workers > 0)
    .toSorted(
      (one, other) =>
        one.priority - other.priority || other.submitted_at.localeCompare(one.submitted_at),
    );
  const named: string[] = [];
  let left = gpus;
  for (const job of own) {
    if (left <= 0) break;
    named.push(job.name);
    left -= job.workers; // a worker has a GPU at least
  }
  return named;
}

/** "vision holds 6 GPUs now, 2 more than it would be guaranteed: resnet, unet." */
export function heldInWords({ team, gpus, jobs }: HeldBeyond): string {
  const names = jobs === null || jobs.length === 0 ? "" : `: ${jobs.join(", ")}`;
  return `${team} holds ${formatGpus(gpus)} now beyond what it would be guaranteed${names}.`;
}

/** Rows of the pools that were asked about: each is planned alone, so in others nothing differs. */
export function askedAbout(
  rows: readonly PreviewedTeam[],
  asked: readonly { readonly pool: string }[],
): readonly PreviewedTeam[] {
  const pools = new Set(asked.map(({ pool }) => pool));
  return rows.filter(({ pool }) => pools.has(pool));
}

/** "With vision at 1 GPU, language at 3 GPUs:" */
export function askedInWords(
  asked: readonly { readonly team: string; readonly guaranteed_gpus?: number }[],
): string {
  const parts = asked.map(
    ({ team, guaranteed_gpus: gpus }) => `${team} at ${formatGpus(gpus ?? 0)}`,
  );
  return `With ${parts.join(", ")}:`;
}

/** What is worth a sentence, the largest changes of waiting first. */
export function previewInWords(
  teams: readonly PreviewedTeam[],
  paused: readonly { readonly team: string; readonly name: string }[],
): readonly string[] {
  const told = teams
    .map((row) => ({ text: rowInWords(row), weight: Math.abs(waitChange(row)) }))
    .filter(({ text }) => text !== "")
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ text }) => text);
  const names = paused.slice(0, MOST_NAMED).map(({ team, name }) => `${team}/${name}`);
  const others = paused.length > MOST_NAMED ? ` and ${paused.length - MOST_NAMED} more` : "";
  return [
    ...told,
    ...(paused.length > 0
      ? [`${plural(paused.length, "job")} would have been paused: ${names.join(", ")}${others}.`]
      : []),
  ];
}

const MOST_NAMED = 5;
const WORTH_SECONDS = 30;
const WORTH_GPU_HOURS = 0.05;

function waitChange({ before, after }: PreviewedTeam): number {
  return (after?.wait_seconds ?? 0) - (before?.wait_seconds ?? 0);
}

function rowInWords({ team, before, after }: PreviewedTeam): string {
  if (before === null || after === null) return "";
  const parts = [
    times("waits", before.wait_seconds, after.wait_seconds),
    times("needs", before.completion_seconds, after.completion_seconds),
    hours("borrows", before.borrowed_gpu_hours, after.borrowed_gpu_hours),
    hours("lends", before.lent_gpu_hours, after.lent_gpu_hours),
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `${team} ${parts.join(", ")}.`;
}

function times(verb: string, before: number | null, after: number | null): string {
  if (before === null || after === null || Math.abs(after - before) < WORTH_SECONDS) return "";
  return `${verb} ${formatDuration(before)} → ${formatDuration(after)}`;
}

function hours(verb: string, before: number, after: number): string {
  const change = after - before;
  if (Math.abs(change) < WORTH_GPU_HOURS) return "";
  return `${verb} ${formatGpuHours(Math.abs(change))} GPU-h ${change < 0 ? "less" : "more"}`;
}

/** How long two bars are, in percent of the longest of all. */
export function barsOf(
  rows: readonly PreviewedTeam[],
  figure: (outcome: TeamOutcome) => number | null,
): readonly { readonly before: number; readonly after: number }[] {
  const values = rows.map(({ before, after }) => ({
    before: (before === null ? null : figure(before)) ?? 0,
    after: (after === null ? null : figure(after)) ?? 0,
  }));
  const longest = Math.max(...values.flatMap(({ before, after }) => [before, after]), 0);
  const percent = (value: number) => (longest === 0 ? 0 : (value / longest) * 100);
  return values.map(({ before, after }) => ({ before: percent(before), after: percent(after) }));
}

/** Say how far the replay of the past is. */
export function replayedWords(percent: string): string {
  return `Replays the last days: ${percent}.`;
}
