import { expect, test } from "vitest";

import type { GpuUse, Pool } from "../api/types";
import {
  describeGpu,
  describeNode,
  holdersOf,
  isShown,
  jobsOn,
  mapAsCsv,
  mapOf,
  memoryShare,
  totalsOf,
} from "./clusterMap";

type Node = Pool["nodes"][number];

const DIGITS = { team: "vision", worker: "k3v9-1-1", job_id: "k3v9", job_name: "digits" };
const FOREIGN = { team: "other teams", worker: null, job_id: null, job_name: null };

function aNode(name: string, given: Partial<Node> = {}): Node {
  return {
    name,
    gpus: 2,
    is_schedulable: true,
    is_draining: false,
    silent_since: null,
    silent_reason: "",
    claims: [],
    ...given,
  };
}

function aPool(...nodes: Node[]): Pool {
  return {
    name: "a100",
    gpu_type: "A100",
    policy: "completion_time",
    policy_options: {},
    admission: "queueing",
    dollars_per_gpu_hour: 0,
    gpus_total: 0,
    gpus_used: 0,
    price: null,
    gap: null,
    gpus_missing: 0,
    ray_selector: {},
    following_note: "",
    teams_trust_each_other: false,
    machines: null,
    nodes,
  };
}

const USE: GpuUse = {
  node: "n1",
  gpu_index: 1,
  worker: "k3v9-1-1",
  utilisation: 0.5,
  memory_bytes: 2 ** 30,
  memory_total_bytes: 2 ** 32,
  is_slow: true,
};

const NODES = mapOf(
  [
    aPool(
      aNode("n1", { claims: [{ gpu_index: 1, ...DIGITS }] }),
      aNode("n2", { is_schedulable: false, claims: [{ gpu_index: 0, ...FOREIGN }] }),
    ),
  ],
  [USE],
);
const [first, second] = NODES as [(typeof NODES)[number], (typeof NODES)[number]];

test("each GPU has a cell, also one that nobody holds", () => {
  expect(first.gpus.map(describeGpu)).toEqual([
    "GPU 0: free",
    "GPU 1: digits, team vision, 50 % busy, 1 GiB of 4 GiB, slow",
  ]);
  expect(second.gpus.map(describeGpu)).toEqual(["GPU 0: other teams", "GPU 1: free"]);
  expect(memoryShare(USE)).toBe(0.25);
  expect(memoryShare(null)).toBeNull();
});

test("a GPU that has gone to another worker is not as busy as it was", () => {
  const later = { gpu_index: 1, ...DIGITS, worker: "k3v9-2-1" };
  const [node] = mapOf([aPool(aNode("n1", { claims: [later] }))], [USE]);
  expect(node?.gpus[1]?.use).toBeNull();
  expect(node?.isSlow).toBe(false);
});

test("a node that did not change is the same again, so that it is not drawn anew", () => {
  const nodes = [1, 2].map((number) =>
    aNode(`n${number}`, { claims: [{ gpu_index: 1, ...DIGITS }] }),
  );
  const [one, other] = mapOf([aPool(...nodes)], [USE]);
  const [again, changed] = mapOf([aPool(...nodes)], [USE, { ...USE, node: "n2" }]);
  expect(again).toBe(one);
  expect(changed).not.toBe(other);
  expect(changed?.isSlow).toBe(true);
});

test("a GPU that is held beyond the number of its node is not lost", () => {
  const [node] = mapOf([aPool(aNode("n", { gpus: 1, claims: [{ gpu_index: 3, ...DIGITS }] }))], []);
  expect(node?.gpus).toHaveLength(4);
});

test("a node is told in a sentence", () => {
  expect(describeNode(first)).toBe(
    "takes work, 1 of 2 GPUs in use, digits on 1 GPU, a worker there is slow",
  );
  expect(describeNode(second)).toBe("is cordoned, 1 of 2 GPUs in use");
  expect(jobsOn(second)).toEqual([]);
});

test("what is free is free on nodes that take work only", () => {
  expect(totalsOf(NODES)).toEqual({ gpus: 4, used: 2, free: 1, closed: 2, busy: 0.5, told: 1 });
  expect(totalsOf([]).busy).toBeNull();
  expect(holdersOf(NODES)).toEqual([
    ["other teams", 1],
    ["vision", 1],
  ]);
});

test("nodes with room, and those to look after, can be shown alone", () => {
  expect(NODES.map((node) => isShown(node, "free"))).toEqual([true, false]);
  expect(NODES.map((node) => isShown(node, "trouble"))).toEqual([true, true]);
});

test("the map is a table of its GPUs", () => {
  expect(mapAsCsv(NODES).split("\n").slice(1, 4)).toEqual([
    "a100,n1,takes work,0,,,,,,,,",
    "a100,n1,takes work,1,vision,digits,k3v9,k3v9-1-1,0.5,1073741824,4294967296,true",
    "a100,n2,cordoned,0,other teams,,,,,,,",
  ]);
});
