import { describe, expect, test } from "vitest";

import type { Invitation } from "../api/types";
import { forget, keyIn, stateOf } from "./invitations";

const KEY = `ci_${"k".repeat(43)}`;

function storage() {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
}

test("the key comes from the address, and is known again after a sign-in", () => {
  const kept = storage();
  expect(keyIn("", kept)).toBe("");
  expect(keyIn("#nothing", kept)).toBe("");
  expect(keyIn(`#${KEY}`, kept)).toBe(KEY);
  expect(keyIn("", kept)).toBe(KEY);
  expect(keyIn("#ci_cut-off", kept)).toBe(""); // not that of another link
  forget(kept);
  expect(keyIn("", kept)).toBe("");
});

describe("an invitation", () => {
  const one: Invitation = {
    id: 1,
    team: "vision",
    role: "member",
    mail: "",
    prefix: "ci_abc",
    invited_by: "lena",
    invited_at: "2026-11-01T00:00:00Z",
    expires_at: "2026-11-08T00:00:00Z",
    revoked_at: null,
    accepted_at: null,
    accepted_by: null,
  };
  const during = Date.parse("2026-11-02T00:00:00Z");
  test.each([
    ["open", {}, during],
    ["expired", {}, Date.parse("2026-11-08T00:00:00Z")],
    ["revoked", { revoked_at: "2026-11-02T00:00:00Z" }, during],
    ["accepted", { accepted_at: "2026-11-02T00:00:00Z" }, during],
  ])("is %s", (state, given, now) => {
    expect(stateOf({ ...one, ...given }, now)).toBe(state);
  });
});
