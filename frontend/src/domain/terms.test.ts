import { expect, test } from "vitest";

import { changesTo, entryOf, inWords, TERMS } from "./terms";

const SPEC = {
  priority: 50,
  elastic: { min_workers: 1, max_workers: 4 },
  batch: { global_batch_size: { min: 32, max: 256 } },
};
const AS_IT_IS = ["1", "4", "32", "256", "50", ""];

test("a form begins with what the spec says", () => {
  expect(TERMS.map((term) => entryOf(SPEC, term))).toEqual(AS_IT_IS);
  expect(TERMS.map((term) => entryOf({}, term))).toEqual(["", "", "", "", "", ""]);
});

test("only what was changed is sent", () => {
  expect(changesTo(SPEC, AS_IT_IS)).toEqual({});
  expect(changesTo(SPEC, ["1", "8", "64", "512", "60", "2.5"])).toEqual({
    elastic: { max_workers: 8 },
    batch: { global_batch_size: { min: 64, max: 512 } },
    priority: 60,
    budget_gpu_hours: 2.5,
  });
});

test("an emptied field takes away what a spec may do without", () => {
  const limited = { ...SPEC, budget_gpu_hours: 2.5 };
  expect(TERMS.map((term) => entryOf(limited, term)).at(-1)).toBe("2.5");
  expect(changesTo(limited, AS_IT_IS)).toEqual({ budget_gpu_hours: null });
});

test("an empty field changes nothing", () => {
  expect(changesTo(SPEC, ["", "", "", "", "", ""])).toEqual({});
});

test("changes are told in words", () => {
  expect(inWords({ priority: 60 })).toBe("priority 60");
  expect(inWords({ elastic: { min_workers: 2 } })).toBe("min_workers 2");
});
