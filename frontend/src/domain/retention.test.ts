import { describe, expect, it } from "vitest";

import type { KeptPart } from "../api/types";
import { bounds, changesOf, choiceOf, lasting } from "./retention";

const LOGS: KeptPart = {
  part: "logs",
  kept_days: 30,
  days: null,
  default_days: 30,
  least_days: null,
  most_days: null,
};

describe("how long", () => {
  it.each([
    [0, "for ever"],
    [1, "1 day"],
    [30, "30 days"],
  ])("%s is %s", (days, said) => {
    expect(lasting(days)).toBe(said);
  });
});

describe("what a team may choose", () => {
  it.each([
    [null, null, ""],
    [0, null, ""],
    [7, null, "at least 7 days"],
    [null, 90, "at most 90 days"],
    [7, 90, "7 to 90 days"],
  ])("%s and %s", (least_days, most_days, said) => {
    expect(bounds({ ...LOGS, least_days, most_days })).toBe(said);
  });
});

describe("what it chose", () => {
  it.each([
    [null, "usual"],
    [0, "ever"],
    [30, "days"],
  ])("%s", (days, said) => {
    expect(choiceOf({ ...LOGS, days })).toBe(said);
  });
});

describe("a form", () => {
  function filled(fields: Record<string, string>): FormData {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return form;
  }

  it.each([
    ["usual", "10", null],
    ["ever", "10", 0],
    ["days", "10", 10],
  ])("that says %s", (choice, days, wanted) => {
    expect(changesOf(filled({ choice, days }))).toEqual({ days: wanted });
  });

  it("of an admin sets bounds, and takes back those that are empty", () => {
    const form = filled({ choice: "days", days: "10", least_days: "7", most_days: " " });
    expect(changesOf(form)).toEqual({ days: 10, least_days: 7, most_days: null });
  });
});
