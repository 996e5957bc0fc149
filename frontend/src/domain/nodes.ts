/** Why does a node take no new work? The silent ones first: somebody has to look at them. */

import type { Pool } from "../api/types";
import { formatGpus } from "./format";

type Node = Pool["nodes"][number];

export interface ClosedNode {
  readonly name: string;
  readonly silentSince: string | null;
  readonly why: string;
}

export function closedNodes(pools: readonly Pool[]): ClosedNode[] {
  const nodes = pools.flatMap((pool) => pool.nodes);
  const closed = nodes.filter((node) => !node.is_schedulable || node.silent_since !== null);
  return closed
    .map((node) => ({ name: node.name, silentSince: node.silent_since, why: whyClosed(node) }))
    .sort((one, other) => Number(one.silentSince === null) - Number(other.silentSince === null));
}

/** What to know of a pool whose nodes come and go with a cluster's machines. */
export interface PoolNote {
  readonly pool: string;
  readonly text: string;
}

/** Admins read all that there is to say; others, how much is missing of what teams are promised. */
export function poolNotes(pools: readonly Pool[]): PoolNote[] {
  return pools.flatMap((pool) =>
    [...machineNotes(pool), ...followingNotes(pool)].map((text) => ({ pool: pool.name, text })),
  );
}

/** Where jobs of one team may read what those of others have on a machine. */
export function trustNotes(pools: readonly Pool[]): PoolNote[] {
  const text = "its teams trust each other: a job may read what those of other teams have there.";
  return pools
    .filter((pool) => pool.teams_trust_each_other)
    .map(({ name }) => ({ pool: name, text }));
}

function followingNotes(pool: Pool): string[] {
  const lines = pool.following_note.split("\n").filter((line) => line !== "");
  if (lines.length > 0) return lines;
  if (pool.gpus_missing === 0) return [];
  return [`it has ${formatGpus(pool.gpus_missing)} fewer now than teams are guaranteed.`];
}

/** Everybody reads that a machine is on its way, or what keeps one from being asked for. */
function machineNotes(pool: Pool): string[] {
  if (pool.machines === null) return [];
  const { asked_since: since, note } = pool.machines;
  const asked = since === null ? [] : ["it has asked its cluster for one more machine."];
  return note === "" ? asked : [...asked, note];
}

/** Something that was decided about a machine. */
export interface MachineNews {
  readonly pool: string;
  readonly at: string;
  readonly text: string;
}

/** What was decided last about machines of these pools, newest first. */
export function machineEvents(pools: readonly Pool[]): MachineNews[] {
  return pools
    .flatMap(({ name, machines }) =>
      (machines?.events ?? []).map(({ at, said }) => ({ pool: name, at, text: said })),
    )
    .toSorted((one, other) => other.at.localeCompare(one.at));
}

function whyClosed(node: Node): string {
  if (node.silent_since !== null) return node.silent_reason;
  return node.is_draining ? "is being drained" : "is cordoned";
}
