import { describe, expect, it } from "vitest";

import { contentOf } from "./secrets";

function formOf(...entries: [string, string][]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
}

describe("a form of a secret", () => {
  it("pairs names with values as they stand, and leaves empty rows out", () => {
    const form = formOf(
      ["kind", "environment"],
      ["variable", " A "],
      ["value", " one "],
      ["variable", ""],
      ["value", ""],
      ["variable", "B"],
      ["value", ""],
    );
    expect(contentOf(form)).toEqual({ kind: "environment", variables: { A: " one ", B: "" } });
  });

  it("is a login when it says so", () => {
    const form = formOf(
      ["kind", "registry"],
      ["registry", " r.example.com "],
      ["username", "u"],
      ["password", " p "],
    );
    expect(contentOf(form)).toEqual({
      kind: "registry",
      registry: "r.example.com",
      username: "u",
      password: " p ",
    });
  });
});
