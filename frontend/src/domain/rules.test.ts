import { expect, test } from "vitest";

import { rulesInWords, textOfRules } from "./rules";

const RULES = {
  defaults: { env: { A: "1" }, max_duration: "2h", notify: {} },
  bounds: { gpus: { most: 8 }, priority: { least: 10, most: 60 } },
  labels: { stage: { values: ["dev", "prod"] }, cc: { pattern: "CC-*" }, who: {} },
  pools: ["default"],
  modes: null,
};

test("each rule is one line, by the name that a refusal gives it", () => {
  expect(rulesInWords(RULES).map(({ name, says }) => `${name}: ${says}`)).toEqual([
    "defaults.env.A: 1",
    "defaults.max_duration: 2h",
    "defaults.notify: {}",
    "bounds.gpus: at most 8",
    "bounds.priority: at least 10, at most 60",
    "labels.stage: one of dev, prod",
    "labels.cc: like CC-*",
    "labels.who: any value",
    "pools: default",
  ]);
});

test("their text leaves out what says nothing", () => {
  expect(textOfRules({ ...RULES, defaults: {}, labels: {}, pools: null })).toBe(
    "bounds:\n  gpus:\n    most: 8\n  priority:\n    least: 10\n    most: 60\n",
  );
  expect(textOfRules({ defaults: {}, bounds: {}, labels: {}, pools: null, modes: null })).toBe("");
});
