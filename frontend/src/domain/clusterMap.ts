/** Who holds which GPU of which node, and what does it do there? What the map and its table show. */

import type { GpuUse, Pool } from "../api/types";
import { csvOf, type CsvValue } from "./csv";
import { formatBytes, formatPercent, NONE, plural } from "./format";
import { conditionOf, type Condition } from "./maintenance";

type Claim = Pool["nodes"][number]["claims"][number];

export interface MapGpu {
  readonly index: number;
  /** null: nobody holds it. */
  readonly claim: Claim | null;
  /** null: it is not told, or the job is not the reader's to see. */
  readonly use: GpuUse | null;
}

export interface MapNode {
  readonly name: string;
  readonly pool: string;
  readonly condition: Condition;
  readonly node: Pool["nodes"][number];
  readonly gpus: readonly MapGpu[];
  readonly used: number;
  readonly isSlow: boolean;
}

export type Shown = "all" | "free" | "trouble";

/** Nodes as they were mapped last: of a thousand, few change, and only those are drawn anew. */
const mapped = new WeakMap<Pool["nodes"][number], MapNode>();

/** A use counts for the worker that told it only: the GPU may be another's since. */
export function mapOf(pools: readonly Pool[], uses: readonly GpuUse[]): MapNode[] {
  const useOf = new Map(uses.map((use) => [`${use.node} ${use.gpu_index}`, use]));
  return pools.flatMap((pool) =>
    pool.nodes.map((node) => {
      const claims = new Map(node.claims.map((claim) => [claim.gpu_index, claim]));
      const count = Math.max(node.gpus, ...[...claims.keys()].map((index) => index + 1));
      const gpus = Array.from({ length: count }, (_, index): MapGpu => {
        const claim = claims.get(index) ?? null;
        const use = useOf.get(`${node.name} ${index}`);
        const isOfClaim = use !== undefined && use.worker === claim?.worker;
        return { index, claim, use: isOfClaim ? use : null };
      });
      const before = mapped.get(node);
      if (before?.pool === pool.name && gpus.every(({ use }, at) => use === before.gpus[at]?.use)) {
        return before;
      }
      const now: MapNode = {
        name: node.name,
        pool: pool.name,
        condition: conditionOf(node),
        node,
        gpus,
        used: claims.size,
        isSlow: gpus.some(({ use }) => use?.is_slow === true),
      };
      mapped.set(node, now);
      return now;
    }),
  );
}

export function isShown(node: MapNode, shown: Shown): boolean {
  switch (shown) {
    case "all":
      return true;
    case "free":
      return node.condition === "open" && node.used < node.gpus.length;
    case "trouble":
      return node.condition !== "open" || node.isSlow;
  }
}

export interface MapTotals {
  readonly gpus: number;
  readonly used: number;
  /** On nodes that take new work. */
  readonly free: number;
  /** On nodes that take none, held or not. */
  readonly closed: number;
  /** Of the GPUs of which it is told; null: of none. */
  readonly busy: number | null;
  readonly told: number;
}

export function totalsOf(nodes: readonly MapNode[]): MapTotals {
  const open = nodes.filter(({ condition }) => condition === "open");
  const gpusOf = (some: readonly MapNode[]) => some.reduce((sum, { gpus }) => sum + gpus.length, 0);
  const busy = nodes.flatMap(({ gpus }) => gpus.map(({ use }) => use?.utilisation ?? null));
  const told = busy.filter((one) => one !== null);
  return {
    gpus: gpusOf(nodes),
    used: nodes.reduce((sum, { used }) => sum + used, 0),
    free: gpusOf(open) - open.reduce((sum, { used }) => sum + used, 0),
    closed: gpusOf(nodes) - gpusOf(open),
    busy: told.length === 0 ? null : told.reduce((sum, one) => sum + one, 0) / told.length,
    told: told.length,
  };
}

/** How many GPUs each team holds, most first. */
export function holdersOf(nodes: readonly MapNode[]): [team: string, gpus: number][] {
  const counts = new Map<string, number>();
  for (const { claim } of nodes.flatMap(({ gpus }) => gpus)) {
    if (claim !== null) counts.set(claim.team, (counts.get(claim.team) ?? 0) + 1);
  }
  return [...counts].sort(([a, one], [b, other]) => other - one || a.localeCompare(b));
}

/** The jobs on a node that the reader may see, with how many of its GPUs each holds. */
export function jobsOn(node: MapNode): { id: string; name: string; team: string; gpus: number }[] {
  const jobs = new Map<string, { id: string; name: string; team: string; gpus: number }>();
  for (const { claim } of node.gpus) {
    if (claim?.job_id == null) continue;
    const known = jobs.get(claim.job_id);
    if (known !== undefined) known.gpus += 1;
    else {
      const name = claim.job_name ?? claim.job_id;
      jobs.set(claim.job_id, { id: claim.job_id, name, team: claim.team, gpus: 1 });
    }
  }
  return [...jobs.values()];
}

export function conditionText(condition: Condition): string {
  return condition === "open" ? "takes work" : condition;
}

/** What follows the name of a node in a sentence, for those who cannot see its cells. */
export function describeNode(node: MapNode): string {
  const jobs = jobsOn(node).map(({ name, gpus }) => `${name} on ${plural(gpus, "GPU")}`);
  const parts = [
    node.condition === "open" ? "takes work" : `is ${node.condition}`,
    `${node.used} of ${plural(node.gpus.length, "GPU")} in use`,
    ...jobs,
    ...(node.isSlow ? ["a worker there is slow"] : []),
  ];
  return parts.join(", ");
}

export function describeGpu({ index, claim, use }: MapGpu): string {
  if (claim === null) return `GPU ${index}: free`;
  const whose = claim.job_name === null ? claim.team : `${claim.job_name}, team ${claim.team}`;
  const parts = [
    `GPU ${index}: ${whose}`,
    ...(use?.utilisation == null ? [] : [`${formatPercent(use.utilisation)} busy`]),
    ...(use?.memory_bytes == null ? [] : [memoryText(use)]),
    ...(use?.is_slow === true ? ["slow"] : []),
  ];
  return parts.join(", ");
}

export function memoryText(use: GpuUse | null): string {
  if (use?.memory_bytes == null) return NONE;
  const { memory_bytes, memory_total_bytes } = use;
  const used = formatBytes(memory_bytes);
  return memory_total_bytes === null ? used : `${used} of ${formatBytes(memory_total_bytes)}`;
}

/** The share of its memory that is in use; null: not told. */
export function memoryShare(use: GpuUse | null): number | null {
  if (use?.memory_bytes == null || use.memory_total_bytes === null) return null;
  return use.memory_total_bytes === 0 ? null : use.memory_bytes / use.memory_total_bytes;
}

const COLUMNS = [
  ...["pool", "node", "node_state", "gpu", "team", "job", "job_id", "worker"],
  ...["utilisation", "memory_bytes", "memory_total_bytes", "is_slow"],
];

export function mapAsCsv(nodes: readonly MapNode[]): string {
  const rows = nodes.flatMap((node) =>
    node.gpus.map(({ index, claim, use }): CsvValue[] => [
      node.pool,
      node.name,
      conditionText(node.condition),
      index,
      claim?.team ?? null,
      claim?.job_name ?? null,
      claim?.job_id ?? null,
      claim?.worker ?? null,
      use?.utilisation ?? null,
      use?.memory_bytes ?? null,
      use?.memory_total_bytes ?? null,
      use === null ? null : String(use.is_slow),
    ]),
  );
  return csvOf(COLUMNS, rows);
}
