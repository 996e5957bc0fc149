import { describe, expect, it } from "vitest";

import { crumbsOf, nameOf } from "./folders";

describe("crumbs", () => {
  it("begin with the outputs", () => {
    expect(crumbsOf("")).toEqual([{ name: "outputs", folder: "" }]);
  });

  it("lead through every folder above", () => {
    expect(crumbsOf("plots/by-epoch")).toEqual([
      { name: "outputs", folder: "" },
      { name: "plots", folder: "plots" },
      { name: "by-epoch", folder: "plots/by-epoch" },
    ]);
  });
});

it("calls a file by the end of its path", () => {
  expect(nameOf("plots/loss.png")).toBe("loss.png");
  expect(nameOf("model.pt")).toBe("model.pt");
});
