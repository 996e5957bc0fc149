import { expect, test } from "vitest";

import type { Pool } from "../api/types";
import { at } from "../testing/samples";
import { closedNodes, machineEvents, poolNotes, trustNotes } from "./nodes";

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
    { name: "a", following_note: "One.\nTwo.", gpus_missing: 4, machines: null },
    { name: "b", following_note: "", gpus_missing: 1, machines: null },
    { name: "c", following_note: "", gpus_missing: 0, machines: null },
  ] as unknown as Pool[];
  expect(poolNotes(pools)).toEqual([
    { pool: "a", text: "One." },
    { pool: "a", text: "Two." },
    { pool: "b", text: "it has 1 GPU fewer now than teams are guaranteed." },
  ]);
});

test("everybody reads that a machine was asked for, and what keeps one from it", () => {
  const machines = { asked_since: at(2), note: "it has nodes_max (6)." };
  const pool = { name: "a", following_note: "", gpus_missing: 0, machines } as unknown as Pool;
  expect(poolNotes([pool])).toEqual([
    { pool: "a", text: "it has asked its cluster for one more machine." },
    { pool: "a", text: "it has nodes_max (6)." },
  ]);
});

test("what was decided about machines of all pools is told newest first", () => {
  const decided = (...moments: string[]) => ({
    events: moments.map((moment) => ({ at: moment, said: `at ${moment}` })),
  });
  const pools = [
    { name: "a", machines: decided("2026-11-29T12:00:00Z", "2026-11-29T10:00:00Z") },
    { name: "b", machines: decided("2026-11-29T11:00:00Z") },
    { name: "c", machines: null },
  ] as unknown as Pool[];
  expect(machineEvents(pools).map(({ pool, text }) => [pool, text])).toEqual([
    ["a", "at 2026-11-29T12:00:00Z"],
    ["b", "at 2026-11-29T11:00:00Z"],
    ["a", "at 2026-11-29T10:00:00Z"],
  ]);
});

test("where teams trust each other is told", () => {
  const pools = [
    { name: "a", teams_trust_each_other: true },
    { name: "b", teams_trust_each_other: false },
  ] as unknown as Pool[];
  expect(trustNotes(pools).map(({ pool }) => pool)).toEqual(["a"]);
});
