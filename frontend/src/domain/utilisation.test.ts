import { describe, expect, it } from "vitest";

import { at, aUtilisation } from "../testing/samples";
import { beginOf, describeUse, guaranteeBands, teamUse, layersOfUse } from "./utilisation";

describe("the use of GPUs", () => {
  it("has a value for every team at every moment, also where the sample leaves one out", () => {
    const [language, vision] = teamUse(aUtilisation());
    expect(language?.team).toBe("language");
    expect(language?.points.map(([, gpus]) => gpus)).toEqual([0, 1]);
    expect(language?.waiting).toEqual([0, 2]);
    expect(vision?.guaranteed).toEqual([1, 2]);
    expect(vision?.points.map(([, gpus]) => gpus)).toEqual([1, 3]);
  });

  it("shows a team without a guarantee after those with one", () => {
    const utilisation = aUtilisation({
      samples: [{ at: "2026-11-21T14:00:00Z", used: { ads: 1 }, waiting: {}, guaranteed: {} }],
    });
    expect(teamUse(utilisation).map((use) => use.team)).toEqual(["language", "vision", "ads"]);
  });

  it("is one sentence for those who cannot see the chart", () => {
    expect(describeUse(aUtilisation())).toBe("GPUs in use by team, of 4: language 1, vision 3.");
    expect(describeUse(aUtilisation({ samples: [] }))).toBe("No GPU has been used yet.");
  });
});

describe("the guarantees", () => {
  it("lie on one another, the first name on top", () => {
    expect(guaranteeBands(aUtilisation())).toEqual([
      { team: "vision", from: 0, to: 2 },
      { team: "language", from: 2, to: 3 },
    ]);
  });
});

describe("the layers of the chart", () => {
  const guaranteed = { vision: 2, language: 1 };

  function layersAt(used: Record<string, number>): [string, string | null, number][] {
    const utilisation = aUtilisation({ samples: [{ at: at(0), used, waiting: {}, guaranteed }] });
    return layersOfUse(teamUse(utilisation), 4).map(({ zone, team, gpus }) => [
      zone,
      team,
      gpus[0] ?? 0,
    ]);
  }

  it("show what a team has of its own in its own band, whoever lies below", () => {
    expect(layersAt({ language: 1 })).toEqual([
      ["vision", null, 2],
      ["language", "language", 1],
      ["", null, 1],
    ]);
  });

  it("show what is borrowed where nothing is guaranteed, then with whom it is missing", () => {
    expect(layersAt({ language: 3 })).toEqual([
      ["vision", "language", 1],
      ["vision", null, 1],
      ["language", "language", 1],
      ["", "language", 1],
    ]);
  });

  it("fill the pool when it is full, and rise over it when more is held than there is", () => {
    const sum = (layers: [string, string | null, number][]) =>
      layers.reduce((all, [, , gpus]) => all + gpus, 0);
    expect(sum(layersAt({ language: 2, vision: 2 }))).toBe(4);
    expect(sum(layersAt({ language: 1 }))).toBe(4);
    expect(sum(layersAt({ language: 3, vision: 2, ads: 1 }))).toBe(6);
  });

  it("go by the guarantees of each moment", () => {
    const layers = layersOfUse(teamUse(aUtilisation()), 4);
    const own = layers.find(({ zone, team }) => zone === "vision" && team === "vision");
    expect(own?.gpus).toEqual([1, 2]);
  });
});

describe("the picture of some minutes", () => {
  it("begins so many before its end, however little is known", () => {
    expect(beginOf(aUtilisation(), 15)).toBe(Date.parse(at(5)) - 900_000);
    expect(beginOf(aUtilisation(), 0.01)).toBe(Date.parse(at(0)));
    expect(beginOf(aUtilisation({ samples: [] }), 15)).toBe(0);
  });
});
