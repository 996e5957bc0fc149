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

/** What of the pool one team held, of its own guarantee or of what lies there for others. */
export interface UseLayer {
  /** Whose guarantee it is drawn in; empty: what is guaranteed to nobody. */
  readonly zone: string;
  /** Who held it; null: nobody. */
  readonly team: string | null;
  readonly gpus: readonly number[]; // at each moment
}

/**
 * The use as layers from the bottom up, where each team's own GPUs lie in its own band.
 *
 * What a team borrows lies above the guarantees first, then in what the others leave, so that a look
 * tells who lends to whom. What nobody holds is a layer, too, or the next band would slip down.
 */
export function layersOfUse(uses: readonly TeamUse[], gpusTotal: number): UseLayer[] {
  const zones = uses.map(({ team }) => team).toReversed();
  const moments = uses[0]?.points.map((_, at) => dealt(uses, at, gpusTotal)) ?? [];
  const holders = [...uses.map(({ team }) => team), null];
  return [...zones, SHARED]
    .flatMap((zone) =>
      [...new Set([...(zone === SHARED ? [] : [zone]), ...holders])].map((team) => ({
        zone,
        team,
        gpus: moments.map((deal) => deal.get(keyOf(zone, team)) ?? 0),
      })),
    )
    .filter(({ gpus }) => gpus.some((count) => count > 0));
}

const SHARED = "";

function keyOf(zone: string, team: string | null): string {
  return JSON.stringify([zone, team]);
}

/** Who held how many GPUs of which band at one moment. */
function dealt(uses: readonly TeamUse[], at: number, gpusTotal: number): Map<string, number> {
  const deal = new Map<string, number>();
  const room = new Map<string, number>();
  let promised = 0;
  for (const { team, guaranteed, points } of uses) {
    const guarantee = guaranteed[at] ?? 0;
    const own = Math.min(points[at]?.[1] ?? 0, guarantee);
    promised += guarantee;
    deal.set(keyOf(team, team), own);
    room.set(team, guarantee - own);
  }
  const bands = [SHARED, ...uses.map(({ team }) => team)];
  room.set(SHARED, Math.max(0, gpusTotal - promised));
  for (const { team, points } of uses) {
    let left = (points[at]?.[1] ?? 0) - (deal.get(keyOf(team, team)) ?? 0);
    for (const band of bands) {
      const taken = Math.min(left, room.get(band) ?? 0);
      if (taken === 0) continue;
      left -= taken;
      room.set(band, (room.get(band) ?? 0) - taken);
      deal.set(keyOf(band, team), (deal.get(keyOf(band, team)) ?? 0) + taken);
    }
    if (left > 0) deal.set(keyOf(SHARED, team), (deal.get(keyOf(SHARED, team)) ?? 0) + left);
  }
  for (const [band, free] of room) deal.set(keyOf(band, null), free);
  return deal;
}

/** When the picture of so many minutes begins, though nothing may be known of its first ones. */
export function beginOf(utilisation: Utilisation, minutes: number): number {
  const [first, last] = [utilisation.samples[0], utilisation.samples.at(-1)];
  if (first === undefined || last === undefined) return 0;
  return Math.min(milliseconds(first.at), milliseconds(last.at) - minutes * 60_000);
}

/** Teams by name, as in the list beside the chart, those without a guarantee last. */
function teamNames(utilisation: Utilisation): string[] {
  const guaranteed = utilisation.teams.map((entry) => entry.team);
  const others = utilisation.samples.flatMap((sample) => Object.keys(sample.used));
  const isListed = new Set(guaranteed);
  const extra = [...new Set(others)].filter((team) => !isListed.has(team));
  return [...guaranteed.toSorted(), ...extra.toSorted()];
}

/** The guarantees as a stack of their own from the bottom up: the first name is on top, as in a list. */
export function guaranteeBands(utilisation: Utilisation): GuaranteeBand[] {
  let top = 0;
  const bands: GuaranteeBand[] = [];
  for (const { team, guaranteed } of utilisation.teams.toSorted((a, b) =>
    b.team.localeCompare(a.team),
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
