import { describe, expect, it } from "vitest";

import { csvOf } from "./csv";

describe("a table as CSV", () => {
  it("has a line for each row, and nothing for what is not known", () => {
    expect(
      csvOf(
        ["name", "took"],
        [
          ["a", 1.5],
          ["b", null],
        ],
      ),
    ).toBe("name,took\na,1.5\nb,\n");
  });

  it("quotes what would break the table", () => {
    expect(csvOf(["x"], [['say "a, b"'], ["two\nlines"]])).toBe(
      'x\n"say ""a, b"""\n"two\nlines"\n',
    );
  });

  it("never lets text become a formula; a number below 0 is none", () => {
    expect(csvOf(["x"], [["=1+1"], ["@sum"], [-3]])).toBe("x\n'=1+1\n'@sum\n-3\n");
  });
});
