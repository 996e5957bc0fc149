import { describe, expect, it } from "vitest";

import { aUtilisation } from "../testing/samples";
import { describeUse, guaranteeBands, teamUse } from "./utilisation";

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
  it("lie on one another in the order of the stack", () => {
    expect(guaranteeBands(aUtilisation())).toEqual([
      { team: "language", from: 0, to: 1 },
      { team: "vision", from: 1, to: 3 },
    ]);
  });
});
