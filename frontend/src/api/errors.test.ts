import { describe, expect, it } from "vitest";

import { errorFrom, isUnauthenticated, messageOf } from "./errors";

describe("an error", () => {
  it("says what the service said", () => {
    const body = { code: "illegal_transition", message: "The job is completed.", details: [] };
    const error = errorFrom(409, body);
    expect(error).toMatchObject({ status: 409, code: "illegal_transition" });
    expect(messageOf(error)).toBe("The job is completed.");
  });

  it("has a sentence also when the answer came from elsewhere", () => {
    expect(messageOf(errorFrom(503, "<html>"))).toContain("service had a problem");
    expect(messageOf(new TypeError("Failed to fetch"))).toContain("does not answer");
  });

  it("of a visitor is told from the others", () => {
    expect(isUnauthenticated(errorFrom(401, undefined))).toBe(true);
    expect(isUnauthenticated(errorFrom(403, undefined))).toBe(false);
  });
});
