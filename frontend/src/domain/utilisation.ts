/** How many GPUs did each team use over time, as series of one chart? */

import type { Utilisation } from "../api/types";
import { milliseconds } from "./time";

export interface TeamUse {
  readonly team: string;
  readonly points: readonly (readonly [at: number, gpus: number])[];
  readonly waiting: readonly number[];
  readonly guaranteed: readonly number[]; // as it was at each moment
}

/** Where a team's guarantee lies in the stack: from `from` to `to` GPUs. */
export interface GuaranteeBand {
  readonly team: string;
  readonly from: number;
  readonly to: number;
}

export function teamUse(utilisation: Utilisation): TeamUse[] {
  return teamNames(utilisation).map((team) => ({
    team,
    points: utilisation.samples.map(
      (sample) => [milliseconds(sample.at), sample.used[team] ?? 0] as const,
    ),
    waiting: utilisation.samples.map((sample) => sample.waiting[team] ?? 0),
    guaranteed: utilisation.samples.map((sample) => sample.guaranteed[team] ?? 0),
  }));
}

/** Teams in the order of the stack: by name, those without a guarantee last. */
function teamNames(utilisation: Utilisation): string[] {
  const guaranteed = utilisation.teams.map((entry) => entry.team);
  const others = utilisation.samples.flatMap((sample) => Object.keys(sample.used));
  const isListed = new Set(guaranteed);
  const extra = [...new Set(others)].filter((team) => !isListed.has(team));
  return [...guaranteed.toSorted(), ...extra.toSorted()];
}

/**
 * The guarantees as a stack of their own, in the same order as the use.
 *
 * When the use of a team rises over the top of its band, it has borrowed.
 */
export function guaranteeBands(utilisation: Utilisation): GuaranteeBand[] {
  let top = 0;
  const bands: GuaranteeBand[] = [];
  for (const { team, guaranteed } of utilisation.teams.toSorted((a, b) =>
    a.team.localeCompare(b.team),
  )) {
    if (guaranteed === 0) continue;
    bands.push({ team, from: top, to: top + guaranteed });
    top += guaranteed;
  }
  return bands;
}

/** One sentence for those who cannot see the chart. */
export function describeUse(utilisation: Utilisation): string {
  const latest = utilisation.samples.at(-1);
  if (latest === undefined) return "No GPU has been used yet.";
  const parts = teamNames(utilisation).map((team) => `${team} ${latest.used[team] ?? 0}`);
  return `GPUs in use by team, of ${utilisation.gpus_total}: ${parts.join(", ")}.`;
}
