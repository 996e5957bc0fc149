import { describe, expect, it } from "vitest";

import { changeSince, formatMoney, monthAfter, monthInWords, monthOf } from "./monthReport";

describe("the month of a report", () => {
  it("is what the address says, or the one that was over last", () => {
    expect(monthOf("2026-10")).toBe("2026-10");
    for (const text of [undefined, "2026-13", "cow", "1999-01"]) {
      expect(monthOf(text)).toBe("latest");
    }
  });

  it("has one before and one after it, also where a year ends", () => {
    expect(monthAfter("2026-01", -1)).toBe("2025-12");
    expect(monthAfter("2026-12", 1)).toBe("2027-01");
  });

  it("is called as people do", () => {
    expect(monthInWords("2026-10")).toBe("October 2026");
  });
});

describe("a number beside that of the month before", () => {
  it("tells by how much it changed", () => {
    expect(changeSince(112, 100)).toBe("+12 %");
    expect(changeSince(50, 100)).toBe("−50 %");
    expect(changeSince(3, -1)).toBe("+400 %");
    expect(changeSince(5, 0)).toBe("new");
  });

  it("tells nothing where nothing changed or is known", () => {
    expect([changeSince(1, 1), changeSince(null, 1), changeSince(1000, 1001)]).toEqual([
      "",
      "",
      "",
    ]);
  });
});

describe("money", () => {
  it("has two digits, and none where a part has no price", () => {
    expect([formatMoney(1234.5), formatMoney(null)]).toEqual(["1,234.50", "–"]);
  });
});
