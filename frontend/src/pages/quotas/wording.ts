/** What is said at the guarantees of a pool: how much is promised, and what is wrong. */

import { ApiError, messageOf } from "../../api/errors";
import { NotSaved } from "../../api/quotas";
import type { Pool } from "../../api/types";
import { formatGpus } from "../../domain/format";
import type { GuaranteeChange, TeamRow } from "../../domain/quotas";

/** "6 of 8 GPUs are guaranteed", as it would be with the draft. */
export function promisedInWords(
  rows: readonly TeamRow[],
  pool: Pool,
  changes: readonly GuaranteeChange[],
): string {
  const after = new Map(changes.map((change) => [change.team, change.after]));
  const promised = (name: string | null): number =>
    rows
      .filter(({ team, depth }) => (name === null ? depth === 0 : team.parent === name))
      .reduce(
        (sum, { team }) =>
          sum + Math.max(after.get(team.name) ?? team.guaranteed, promised(team.name)),
        0,
      );
  const would = changes.length > 0 ? "would be" : "are";
  return `${String(promised(null))} of ${formatGpus(pool.gpus_total)} ${would} guaranteed`;
}

/** What the service says of a team's guarantee, when it was saved or previewed. */
export function problemsOf(
  changes: readonly GuaranteeChange[],
  saving: unknown,
  asking: unknown,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (saving instanceof NotSaved) {
    found.set(
      saving.refused.team,
      detailsOf(saving.cause)
        .map(([, text]) => text)
        .join(" "),
    );
  }
  for (const [field, text] of detailsOf(asking)) {
    const place = /^quotas\.(\d+)\./.exec(field)?.[1];
    const change = place === undefined ? undefined : changes[Number(place)];
    if (change !== undefined) found.set(change.team, text);
  }
  return found;
}

function detailsOf(error: unknown): readonly (readonly [string, string])[] {
  if (!(error instanceof ApiError)) return [];
  return error.details.map(({ field, problem }) => [field ?? "", problem ?? ""] as const);
}

/** What stands at no field. */
export function unplaced(error: unknown): string {
  const cause = error instanceof NotSaved ? error.cause : error;
  return detailsOf(cause).length > 0 ? "" : messageOf(cause);
}
