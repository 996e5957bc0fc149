/** What a job asks for and people change while it lives: its terms as a form has them. */

import type { JobChanges } from "../api/types";

export interface Term {
  readonly label: string;
  readonly path: readonly string[];
  readonly min: number;
  readonly max?: number;
  /** A spec may do without it, and it need not be whole. */
  readonly isOptional?: boolean;
}

export const TERMS: readonly Term[] = [
  { label: "Fewest workers", path: ["elastic", "min_workers"], min: 1 },
  { label: "Most workers", path: ["elastic", "max_workers"], min: 1 },
  { label: "Smallest batch", path: ["batch", "global_batch_size", "min"], min: 1 },
  { label: "Largest batch", path: ["batch", "global_batch_size", "max"], min: 1 },
  { label: "Priority", path: ["priority"], min: 0, max: 100 },
  { label: "Budget, GPU-hours", path: ["budget_gpu_hours"], min: 0.01, isOptional: true },
];

type Document = Readonly<Record<string, unknown>>;

/** The number that stands in a spec; empty where there is none. */
export function entryOf(spec: Document, { path }: Term): string {
  let value: unknown = spec;
  for (const name of path) {
    value = isDocument(value) ? value[name] : undefined;
  }
  return typeof value === "number" ? String(value) : "";
}

/** The part of a spec that makes it as entered; what is entered by term in its order. */
export function changesTo(spec: Document, entries: readonly string[]): JobChanges {
  const changes: Record<string, unknown> = {};
  TERMS.forEach((term, place) => {
    const entry = entries[place] ?? "";
    const isTakenAway = entry === "" && term.isOptional === true;
    if ((entry === "" && !isTakenAway) || entry === entryOf(spec, term)) return;
    let inner = changes;
    for (const name of term.path.slice(0, -1)) {
      const next = isDocument(inner[name]) ? { ...inner[name] } : {};
      inner[name] = next;
      inner = next;
    }
    inner[term.path.at(-1) ?? ""] = isTakenAway ? null : Number(entry);
  });
  return changes;
}

/** `priority 60`, `min_workers 2`: what a part of a spec would set. */
export function inWords(changes: Document): string {
  return Object.entries(changes)
    .map(([name, value]) => (isDocument(value) ? inWords(value) : `${name} ${String(value)}`))
    .join(", ");
}

function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
