import { parse } from "yaml";
import { describe, expect, it } from "vitest";

import { hasArray, withinSpec } from "./specText";

const TEXT = `# a few
name: digits

command: [python, train.py, "{{lr}}"]
env:
  NOTE: |
    two
     lines
array: {parameters: {lr: [0.1, 0.01]}}
`;

describe("the text of a spec with an array", () => {
  it("is told from that of one job", () => {
    expect(hasArray(TEXT)).toBe(true);
    expect(hasArray("name: digits\nlabels: {array: yes}\n")).toBe(false);
    expect(hasArray("name: [")).toBe(false);
    expect(hasArray("")).toBe(false);
  });

  it("means the same within a document of many", () => {
    expect(parse(withinSpec(TEXT))).toEqual({ spec: parse(TEXT) as unknown });
    expect(parse(withinSpec(`# mine\n---\n${TEXT}`))).toEqual({ spec: parse(TEXT) as unknown });
    const flow = '{"name": "digits",\n"array": {}}';
    expect(parse(withinSpec(flow))).toEqual({ spec: parse(flow) as unknown });
  });
});
