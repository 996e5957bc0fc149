import { expect, test } from "vitest";

import type { Pool } from "../api/types";
import { at } from "../testing/samples";
import { closedNodes } from "./nodes";

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
