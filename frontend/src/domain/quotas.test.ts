import { describe, expect, it } from "vitest";

import type { Job, PreviewedTeam, TeamOutcome, TeamStanding } from "../api/types";
import {
  askedAbout,
  askedInWords,
  barsOf,
  changesOf,
  gpusOf,
  heldBeyond,
  heldInWords,
  inOrder,
  previewInWords,
  takenBack,
  treeOf,
} from "./quotas";

function team(name: string, changes: Partial<TeamStanding> = {}): TeamStanding {
  const plain = { name, parent: null, guaranteed: 4, allocated: 0, is_mine: true };
  return { ...plain, ...changes } as TeamStanding;
}

function outcome(changes: Partial<TeamOutcome> = {}): TeamOutcome {
  return {
    guaranteed_gpus: 4,
    jobs: 10,
    finished: 10,
    wait_seconds: 720,
    completion_seconds: 3600,
    gpu_hours: 5,
    borrowed_gpu_hours: 10,
    lent_gpu_hours: 0,
    paused_jobs: 0,
    ...changes,
  };
}

function row(name: string, before: TeamOutcome | null, after: TeamOutcome | null): PreviewedTeam {
  return { team: name, pool: "default", before, after };
}

const ROWS = treeOf([
  team("vision", { parent: "research" }),
  team("research", { guaranteed: 8 }),
  team("sales"),
  team("language", { parent: "research" }),
]);

describe("what was asked", () => {
  const asked = [
    { team: "vision", pool: "default", guaranteed_gpus: 1 },
    { team: "sales", pool: "default", guaranteed_gpus: 3 },
  ];

  it("is said, for the draft may have gone on since", () => {
    expect(askedInWords(asked)).toBe("With vision at 1 GPU, sales at 3 GPUs:");
  });

  it("leaves out teams in pools where nothing differs", () => {
    const here = row("vision", outcome(), outcome());
    expect(askedAbout([here, { ...here, pool: "h100" }], asked)).toEqual([here]);
  });
});

describe("the tree of teams", () => {
  it("lists each team below the one above it, by name", () => {
    expect(ROWS.map(({ team: one, depth }) => [one.name, depth])).toEqual([
      ["research", 0],
      ["language", 1],
      ["vision", 1],
      ["sales", 0],
    ]);
  });

  it("shows a team whose parent is not shown at the top", () => {
    expect(treeOf([team("vision", { parent: "hidden" })])[0]?.depth).toBe(0);
  });
});

describe("changes of a draft", () => {
  it("are those that are numbers and differ", () => {
    const draft = { vision: "6", sales: "4", language: "many", research: "" };
    expect(changesOf(draft, ROWS)).toEqual([{ team: "vision", before: 4, after: 6 }]);
  });

  it("give up from below first, and then take from above", () => {
    const draft = { research: "12", vision: "8", language: "2", sales: "0" };
    expect(changesOf(draft, ROWS).map(({ team: name }) => name)).toEqual([
      "sales",
      "language",
      "research",
      "vision",
    ]);
  });

  it("are taken back in an order that can be saved as well", () => {
    const made = changesOf({ research: "12", vision: "8" }, ROWS);
    expect(inOrder(takenBack(made), ROWS)).toEqual([
      { team: "vision", before: 8, after: 4 },
      { team: "research", before: 12, after: 8 },
    ]);
  });

  it("know what a number of GPUs is", () => {
    expect([" 4 ", "0", "", "-1", "1.5", "123456"].map(gpusOf)).toEqual([
      4,
      0,
      null,
      null,
      null,
      null,
    ]);
  });
});

describe("what is held beyond a smaller guarantee", () => {
  const rows = treeOf([team("vision", { allocated: 5 }), team("sales", { is_mine: false })]);
  const job = (name: string, workers: number, submitted_at: string) =>
    ({ name, team: "vision", workers, priority: 50, submitted_at }) as unknown as Job;

  it("names the youngest jobs that hold it", () => {
    const running = [
      job("old", 2, "2026-11-01"),
      job("new", 1, "2026-11-03"),
      job("mid", 2, "2026-11-02"),
    ];
    const [found] = heldBeyond([{ team: "vision", before: 4, after: 3 }], rows, running);
    expect(found).toEqual({ team: "vision", gpus: 2, jobs: ["new", "mid"] });
    expect(found && heldInWords(found)).toBe(
      "vision holds 2 GPUs now beyond what it would be guaranteed: new, mid.",
    );
  });

  it("is nothing where a guarantee grows, or covers what is held", () => {
    expect(heldBeyond([{ team: "vision", before: 4, after: 6 }], rows, [])).toEqual([]);
    expect(heldBeyond([{ team: "sales", before: 4, after: 1 }], rows, [])).toEqual([]);
  });
});

describe("a preview in words", () => {
  it("tells the largest change of waiting first, and leaves out what hardly changes", () => {
    const rows = [
      row("sales", outcome(), outcome({ wait_seconds: 725 })),
      row("language", outcome(), outcome({ wait_seconds: 660, borrowed_gpu_hours: 2 })),
      row("vision", outcome(), outcome({ wait_seconds: 1860, lent_gpu_hours: 1 })),
    ];
    expect(previewInWords(rows, [])).toEqual([
      "vision waits 12 min → 31 min, lends 1.0 GPU-h more.",
      "language waits 12 min → 11 min, borrows 8.0 GPU-h less.",
    ]);
  });

  it("names some of the jobs that would have been paused", () => {
    const paused = ["a", "b", "c", "d", "e", "f"].map((name) => ({ team: "vision", name }));
    expect(previewInWords([], paused)).toEqual([
      "6 jobs would have been paused: vision/a, vision/b, vision/c, vision/d, vision/e and 1 more.",
    ]);
  });

  it("says nothing of a team that is on one side only", () => {
    expect(previewInWords([row("vision", null, outcome())], [])).toEqual([]);
  });
});

describe("bars", () => {
  it("are as long as the longest of all, and empty without a figure", () => {
    const rows = [
      row("vision", outcome({ wait_seconds: 30 }), outcome({ wait_seconds: 60 })),
      row("sales", null, outcome({ wait_seconds: null })),
    ];
    expect(barsOf(rows, (one) => one.wait_seconds)).toEqual([
      { before: 50, after: 100 },
      { before: 0, after: 0 },
    ]);
  });

  it("are empty where nobody waited", () => {
    const rows = [row("vision", outcome({ wait_seconds: 0 }), outcome({ wait_seconds: 0 }))];
    expect(barsOf(rows, (one) => one.wait_seconds)).toEqual([{ before: 0, after: 0 }]);
  });
});
