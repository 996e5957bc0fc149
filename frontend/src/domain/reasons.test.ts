import { expect, test } from "vitest";

import type { EventKind, JobReason } from "../api/types";
import { eventLabel, reasonLabel } from "./reasons";

test("a code is shown as the words that the service has for it", () => {
  expect(reasonLabel("waiting_for_quota")).toBe("Team limit reached");
  expect(reasonLabel("waiting_for_user_limit")).toBe("User's limit reached");
  expect(eventLabel("workers_lost")).toBe("Went on without lost workers");
});

test("a code of another release is shown as words", () => {
  expect(reasonLabel("moon_is_full" as JobReason)).toBe("Moon is full");
  expect(eventLabel("moon_rose" as EventKind)).toBe("Moon rose");
  expect(reasonLabel("")).toBe("");
});
