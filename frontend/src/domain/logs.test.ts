import { describe, expect, it } from "vitest";

import { aLine } from "../testing/samples";
import { append, EMPTY_LOG, filterLines, shortWorker, workersIn } from "./logs";

const texts = (buffer: { lines: readonly { text: string }[] }) =>
  buffer.lines.map((line) => line.text);

describe("the log buffer", () => {
  it("takes a line once, also when a stream that reconnected sends its tail again", () => {
    const first = append(EMPTY_LOG, [aLine(1, "a"), aLine(2, "b")]);
    const again = append(first, [aLine(1, "a"), aLine(2, "b"), aLine(3, "c")]);
    expect(texts(again)).toEqual(["a", "b", "c"]);
  });

  it("keeps the same words of two workers or two moments apart", () => {
    const buffer = append(EMPTY_LOG, [aLine(1, "x"), aLine(1, "x", "k3v9-1-2"), aLine(2, "x")]);
    expect(buffer.lines).toHaveLength(3);
  });

  it("orders lines of several workers by time", () => {
    const buffer = append(append(EMPTY_LOG, [aLine(5, "late")]), [aLine(1, "early", "k3v9-1-2")]);
    expect(texts(buffer)).toEqual(["early", "late"]);
  });

  it("drops the oldest beyond its limit, and is the same object when nothing is new", () => {
    const buffer = append(EMPTY_LOG, [aLine(1, "a"), aLine(2, "b"), aLine(3, "c")], 2);
    expect(texts(buffer)).toEqual(["b", "c"]);
    expect(append(buffer, [aLine(3, "c")], 2)).toBe(buffer);
  });
});

describe("the filter", () => {
  const lines = [aLine(1, "Loss 0.3"), aLine(2, "saved", "k3v9-1-2")];

  it("looks for text in any case, and for a worker", () => {
    expect(filterLines(lines, { worker: "", text: " loss " })).toEqual([lines[0]]);
    expect(filterLines(lines, { worker: "k3v9-1-2", text: "" })).toEqual([lines[1]]);
  });
});

describe("workers", () => {
  it("stand in the order of their numbers", () => {
    const lines = [aLine(1, "", "k-1-10"), aLine(2, "", "k-1-9"), aLine(3, "", "k-1-10")];
    expect(workersIn(lines)).toEqual(["k-1-9", "k-1-10"]);
  });

  it("lose the job's id, which the page says already", () => {
    expect(shortWorker("k3v9-1-4", "k3v9")).toBe("1-4");
    expect(shortWorker("other-1-4", "k3v9")).toBe("other-1-4");
  });
});
