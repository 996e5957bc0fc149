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
  return pools.flatMap((pool) => {
    const lines = pool.following_note.split("\n").filter((line) => line !== "");
    if (lines.length > 0) return lines.map((text) => ({ pool: pool.name, text }));
    if (pool.gpus_missing === 0) return [];
    const text = `it has ${formatGpus(pool.gpus_missing)} fewer now than teams are guaranteed.`;
    return [{ pool: pool.name, text }];
  });
}

function whyClosed(node: Node): string {
  if (node.silent_since !== null) return node.silent_reason;
  return node.is_draining ? "is being drained" : "is cordoned";
}
