import { expect, test } from "vitest";

import type { Pool } from "../api/types";
import { at } from "../testing/samples";
import { closedNodes, poolNotes } from "./nodes";

type Node = Pool["nodes"][number];

function aNode(name: string, given: Partial<Node> = {}): Node {
  return {
    name,
    gpus: 1,
    is_schedulable: true,
    is_draining: false,
    silent_since: null,
    silent_reason: "",
    claims: [],
    ...given,
  };
}

test("nodes that take no work are told with the reason, the silent ones first", () => {
  const nodes = [
    aNode("n1"),
    aNode("n2", { is_schedulable: false }),
    aNode("n3", { is_schedulable: false, is_draining: true }),
    aNode("n4", { silent_since: at(2), silent_reason: "connection refused" }),
  ];
  expect(closedNodes([{ nodes } as unknown as Pool])).toEqual([
    { name: "n4", silentSince: at(2), why: "connection refused" },
    { name: "n2", silentSince: null, why: "is cordoned" },
    { name: "n3", silentSince: null, why: "is being drained" },
  ]);
});

test("admins read all of what is to know of a pool's machines, others what is missing", () => {
  const pools = [
    { name: "a", following_note: "One.\nTwo.", gpus_missing: 4 },
    { name: "b", following_note: "", gpus_missing: 1 },
    { name: "c", following_note: "", gpus_missing: 0 },
  ] as unknown as Pool[];
  expect(poolNotes(pools)).toEqual([
    { pool: "a", text: "One." },
    { pool: "a", text: "Two." },
    { pool: "b", text: "it has 1 GPU fewer now than teams are guaranteed." },
  ]);
});
