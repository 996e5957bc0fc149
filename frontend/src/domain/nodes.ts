/** Why does a node take no new work? The silent ones first: somebody has to look at them. */

import type { Pool } from "../api/types";

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

function whyClosed(node: Node): string {
  if (node.silent_since !== null) return node.silent_reason;
  return node.is_draining ? "is being drained" : "is cordoned";
}
