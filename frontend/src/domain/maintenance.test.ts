import { expect, test } from "vitest";

import type { LeavingJob } from "../api/types";
import { conditionOf, fateOf, offered, roomElsewhere } from "./maintenance";

function aJob(given: Partial<LeavingJob> = {}): LeavingJob {
  return {
    id: "k3v9",
    name: "digits",
    team: "vision",
    mode: "hot",
    workers_here: 2,
    workers_elsewhere: 1,
    gpus_here: 2,
    min_workers: 1,
    can_move: true,
    workers_with_room: 0,
    without_room: "shrinks",
    ...given,
  };
}

const OPEN = { is_schedulable: true, is_draining: false, silent_since: null };
const CORDONED = { ...OPEN, is_schedulable: false };
const DRAINING = { ...CORDONED, is_draining: true };

test("a node is called by what keeps work away, its silence first", () => {
  expect([OPEN, CORDONED, DRAINING].map(conditionOf)).toEqual(["open", "cordoned", "draining"]);
  expect(conditionOf({ ...DRAINING, silent_since: "2026-11-21T14:00:00Z" })).toBe("silent");
});

test("only what would change something is offered", () => {
  expect(offered(OPEN)).toEqual(["cordon", "drain"]);
  expect(offered(CORDONED)).toEqual(["drain", "uncordon"]);
  expect(offered(DRAINING)).toEqual(["uncordon"]);
});

test("a cordon lets jobs stay", () => {
  expect(fateOf(aJob(), "cordon")).toBe("may stay, and leaves this node first when it shrinks");
});

test.each([
  [aJob(), "shrinks to 1 worker elsewhere"],
  [aJob({ workers_with_room: 2 }), "moves; if the room is taken, it shrinks to 1 worker elsewhere"],
  [
    aJob({ workers_with_room: 1 }),
    "moves as far as there is room; if the room is taken, it shrinks to 1 worker elsewhere",
  ],
  [aJob({ without_room: "pauses" }), "pauses after a checkpoint until there is room"],
  [aJob({ without_room: "stays" }), "stays until it ends: it may not be paused"],
  [
    aJob({ can_move: false, workers_with_room: 8, without_room: "pauses" }),
    "pauses, and starts again elsewhere when there is room: it cannot move",
  ],
  [
    aJob({ can_move: false, workers_with_room: 8, without_room: "stays" }),
    "stays until it ends: it can neither move nor be paused",
  ],
])("what a drain does to a job is told by the room there is for its workers", (job, fate) => {
  expect(fateOf(job, "drain")).toBe(fate);
});

test("the room is told", () => {
  expect(roomElsewhere(0)).toBe("No other node of the pool has a free GPU.");
  expect(roomElsewhere(1)).toBe("Other nodes of the pool have 1 GPU free.");
});
