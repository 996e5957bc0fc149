/** What does a code say to a person? Those of another release are shown as words, never hidden. */

import type { EventKind, JobReason } from "../api/types";
import { EVENT_LABELS, REASON_LABELS } from "../api/vocabulary";
import { humanise } from "./format";

export function reasonLabel(code: JobReason | ""): string {
  return labelOf(code, REASON_LABELS);
}

export function eventLabel(code: EventKind): string {
  return labelOf(code, EVENT_LABELS);
}

function labelOf(code: string, labels: Readonly<Partial<Record<string, string>>>): string {
  return labels[code] ?? humanise(code);
}
