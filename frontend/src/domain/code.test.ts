import { expect, test } from "vitest";

import { codeOrigin } from "./code";

const digest = "0123456789abcdef".repeat(4);

test("a job without code of its own has no origin", () => {
  expect(codeOrigin({})).toBeNull();
  expect(codeOrigin({ code: null })).toBeNull();
});

test("without git it is known by its digest", () => {
  expect(codeOrigin({ code: { digest, git: null } })).toEqual({ label: "0123456789ab", diff: "" });
});

test("with git it is known by branch and commit", () => {
  const git = { commit: "abcdef0123456", branch: "main", is_changed: false, diff: "" };
  expect(codeOrigin({ code: { digest, git } })?.label).toBe("main@abcdef0");
  const changed = codeOrigin({ code: { digest, git: { ...git, is_changed: true, diff: "+x" } } });
  expect(changed).toEqual({ label: "main@abcdef0, changed", diff: "+x" });
});
