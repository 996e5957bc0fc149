import { describe, expect, test } from "vitest";

import { localPath, problemOf, wayTo } from "./signIn";

describe("problemOf", () => {
  test.each([
    [null, "Lab", ""],
    ["not_in_a_group", "Lab", "None of your groups at Lab may use this installation."],
    ["provider_away", undefined, "The identity provider does not answer"],
    ["<b>pay here</b>", "Lab", "You are not signed in."],
    ["constructor", "Lab", "You are not signed in."],
  ])("of %s is a sentence of ours", (code, provider, beginning) => {
    expect(problemOf(code, provider).startsWith(beginning)).toBe(true);
    expect(problemOf(code, provider)).not.toContain("pay");
  });
});

describe("localPath", () => {
  test.each([
    ["/jobs?state=running", "/jobs?state=running"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["https://evil.example", "/"],
    ["javascript:alert(1)", "/"],
    [null, "/"],
  ])("of %s is %s", (wanted, path) => {
    expect(localPath(wanted)).toBe(path);
  });
});

test("the way to the provider tells where one wanted to go", () => {
  expect(wayTo("/sign-in/provider", "/")).toBe("/sign-in/provider");
  expect(wayTo("/sign-in/provider", "/jobs?a=b")).toBe("/sign-in/provider?next=%2Fjobs%3Fa%3Db");
});
