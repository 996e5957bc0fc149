import { describe, expect, it } from "vitest";

import type { ComparedCurve, ComparedJob } from "../api/types";
import { aJob, at } from "../testing/samples";
import { curvesAsCsv, differencesOf, flat, outcomesOf, rowsAsCsv } from "./comparedRows";
import { comparedCurve, idsOf, letterOf, wantedOf } from "./comparison";

function aCurve(given: Partial<ComparedCurve> = {}): ComparedCurve {
  return {
    lowest: 1,
    highest: 3,
    seconds: [0, 10, 20],
    steps: [1, 2, 3],
    samples: [8, 16, 24],
    gpu_hours: [0, 0.5, 1],
    values: [3, 2, 1],
    ...given,
  };
}

function compared(id: string, given: Partial<ComparedJob> = {}): ComparedJob {
  return { ...aJob(id), resolved_spec: {}, curve: aCurve(), ...given };
}

const ofMoment = (moment: number) => new Date(moment).toISOString().slice(11, 19);

describe("which jobs are compared", () => {
  it("is read from the address, each once", () => {
    expect(idsOf("a,b,,a, c")).toEqual(["a", "b", "c"]);
    expect(idsOf("")).toEqual([]);
  });

  it("is told by letters", () => {
    expect([0, 1, 9].map(letterOf)).toEqual(["A", "B", "J"]);
  });

  it("tells what is measured from a metric of that name", () => {
    expect(wantedOf("loss")).toEqual({ metric: "loss", measure: null });
    expect(wantedOf("step_seconds")).toEqual({ metric: "step_seconds", measure: null });
    expect(wantedOf(":step_seconds")).toEqual({ metric: "", measure: "step_seconds" });
  });
});

describe("a curve", () => {
  it("is drawn over any of four", () => {
    const over = (["step", "samples", "time", "gpu-hours"] as const).map(
      (one) => comparedCurve(aCurve(), one).at(-1)?.[0],
    );
    expect(over).toEqual([3, 24, 20, 1]);
  });

  it("shows work that was done again as it was done last", () => {
    const again = aCurve({ steps: [1, 2, 2], values: [3, 2, 9] });
    expect(comparedCurve(again, "step")).toEqual([
      [1, 3],
      [2, 9],
    ]);
  });

  it("leaves out points whose GPU-hours nobody knows", () => {
    const old = aCurve({ gpu_hours: [null, null, 1] });
    expect(comparedCurve(old, "gpu-hours")).toEqual([[1, 1]]);
  });

  it("is copied with all axes", () => {
    expect(
      curvesAsCsv([compared("x")], "loss")
        .split("\n")
        .slice(0, 2),
    ).toEqual(["job,id,step,samples,seconds,gpu_hours,loss", "job-x,x,1,8,0,0,3"]);
  });
});

describe("what differs", () => {
  const specs = [
    { image: "torch:2", elastic: { max_workers: 4, min_workers: 1 }, env: { LR: "0.1" } },
    { image: "torch:2", elastic: { max_workers: 8, min_workers: 1 }, env: {} },
  ];
  const jobs = specs.map((resolved_spec, place) =>
    compared(`j${place}`, { resolved_spec, submitted_at: at(60 * place) }),
  );

  it("is told by field, and how many are the same", () => {
    const { rows, same } = differencesOf(jobs, ofMoment);
    expect(rows.map(({ title, texts }) => [title, ...texts])).toEqual([
      ["Submitted", "14:00:00", "14:01:00"],
      ["elastic.max_workers", "4", "8"],
      ["env.LR", "0.1", "–"],
    ]);
    expect(same).toBe(2);
  });

  it("says who submitted where that differs", () => {
    const [first, second] = jobs as [ComparedJob, ComparedJob];
    const { rows } = differencesOf([first, { ...second, submitted_by: "grace" }], ofMoment);
    expect(rows[1]?.texts).toEqual(["ada", "grace"]);
  });

  it("is copied as a table", () => {
    expect(rowsAsCsv("field", jobs, differencesOf(jobs, ofMoment).rows)).toContain(
      "elastic.max_workers,4,8\n",
    );
  });

  it("is told where only the parting of a command differs", () => {
    const differ = (one: Record<string, unknown>, other: Record<string, unknown>) => {
      const both = [one, other].map((resolved_spec, place) =>
        compared(`j${place}`, { resolved_spec }),
      );
      return differencesOf(both, ofMoment)
        .rows.slice(1)
        .map(({ texts }) => texts);
    };
    const parted = { command: ["sh", "-c", "python train.py"] };
    expect(differ(parted, { command: ["sh", "-c", "python", "train.py"] })).toEqual([
      ['sh -c "python train.py"', "sh -c python train.py"],
    ]);
    expect(differ({ command: ["run", ""] }, { command: ["run"] })).toEqual([['run ""', "run"]]);
  });

  it("takes a list of plain values as one, and goes into others", () => {
    const document = { command: ["python", "train.py"], data: [{ source: "mnist" }], seed: null };
    expect([...flat(document)]).toEqual([
      ["command", "python train.py"],
      ["data[0].source", "mnist"],
    ]);
  });
});

describe("outcomes", () => {
  it("have the last value of the metric and the best, which of a loss is the lowest", () => {
    const titles = outcomesOf([compared("a")], "val_loss", 0).map(({ title, texts }) => [
      title,
      ...texts,
    ]);
    expect(titles).toContainEqual(["val_loss, last", "1"]);
    expect(titles).toContainEqual(["val_loss, lowest", "1"]);
    const accuracy = outcomesOf([compared("a")], "accuracy", 0).at(-1);
    expect([accuracy?.title, accuracy?.texts]).toEqual(["accuracy, highest", ["3"]]);
  });

  it("count up while a job has not ended", () => {
    const waiting = compared("a", { finished_at: null, started_at: null });
    const rows = outcomesOf([waiting, compared("b")], "", Date.parse(at(30)));
    expect(rows.find(({ csv }) => csv === "seconds")?.values).toEqual([30, 65]);
    expect(rows.find(({ csv }) => csv === "waited_seconds")?.values).toEqual([30, 5]);
  });
});
