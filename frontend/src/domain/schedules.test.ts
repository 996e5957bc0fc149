import { expect, test } from "vitest";

import type { ScheduleRun } from "../api/types";
import { timesInWords, toneOfRun } from "./schedules";

function aRun(state: ScheduleRun["state"]): ScheduleRun {
  return {
    due_at: "2026-11-30T01:00:00Z",
    asked_by: "",
    state,
    message: "",
    jobs: [],
    job_count: 0,
    ended_at: null,
  };
}

test("a run that became no job is seen to have gone wrong, but for one that was left out", () => {
  expect(toneOfRun(aRun("submitted"))).toBe("good");
  expect(toneOfRun(aRun("refused"))).toBe("danger");
  expect(toneOfRun(aRun("skipped"))).toBe("neutral");
});

test("times are read with their zone", () => {
  expect(timesInWords("0 2 * * *", "Europe/Berlin")).toBe("0 2 * * * in Europe/Berlin");
});
