import { describe, expect, it } from "vitest";

import type { Outlook } from "../api/types";
import { NewestAnswer } from "./newestAnswer";
import { outlookInWords } from "./outlook";
import { fieldsOf, groupsOf } from "./specSchema";
import { entryOf, readText, sentenceOf, textOf, valueAt, valueOf, withValue } from "./specText";

const SCHEMAS = {
  JobSpec: {
    required: ["name", "command"],
    properties: {
      name: { type: "string" },
      project: { type: "string" },
      command: { type: "array", items: { type: "string" } },
      env: { type: "object", additionalProperties: { type: "string" } },
      elastic: { $ref: "#/components/schemas/Elastic", default: { min_workers: 1 } },
      deadline: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
      depends_on: { type: "array", items: { anyOf: [{ $ref: "#/x/Elastic" }] } },
      priority: { type: "integer", minimum: 0, maximum: 100, default: 50 },
    },
  },
  Elastic: {
    properties: {
      min_workers: { type: "integer", minimum: 1, default: 1 },
      mode: { $ref: "#/components/schemas/Mode", default: "auto" },
    },
  },
  Mode: { type: "string", enum: ["auto", "hot"] },
};

it("says what is wrong and what to do in two sentences", () => {
  const remedy = "Use one of: vision.";
  expect(sentenceOf({ problem: "is missing", remedy })).toBe(`is missing. ${remedy}`);
  expect(sentenceOf({ problem: "is missing.", remedy: "" })).toBe("is missing.");
});

describe("the form", () => {
  const fields = fieldsOf(SCHEMAS);

  it("has a field for each that the schema describes, and none for what it cannot hold", () => {
    expect(fields.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      "name text",
      "command words",
      "env pairs",
      "elastic.min_workers number",
      "elastic.mode choice",
      "deadline text",
      "priority number",
    ]);
    expect(groupsOf(fields).map(({ title }) => title)).toEqual(["", "elastic"]);
  });

  it("knows bounds, standards and choices", () => {
    const priority = fields.find(({ path }) => path === "priority");
    expect(priority).toMatchObject({ minimum: 0, maximum: 100, standard: "50", isWhole: true });
    const mode = fields.find(({ path }) => path === "elastic.mode");
    expect([mode?.choices, mode?.standard]).toEqual([["auto", "hot"], "auto"]);
    expect(fields.filter(({ isRequired }) => isRequired).map(({ path }) => path)).toEqual([
      "name",
      "command",
    ]);
  });
});

describe("the text", () => {
  const text = "# mine\nname: first # why\nelastic: {max_workers: 4}\n";

  it("keeps comments and order when a field is changed", () => {
    const after = withValue(text, "elastic.min_workers", 2);
    expect(after).toBe("# mine\nname: first # why\nelastic: {max_workers: 4, min_workers: 2}\n");
  });

  it("loses a part with its last field", () => {
    expect(withValue(text, "elastic.max_workers", undefined)).toBe("# mine\nname: first # why\n");
  });

  it("gets a range where there was a number", () => {
    const after = withValue(
      "batch:\n  global_batch_size: 64\n",
      "batch.global_batch_size.max",
      128,
    );
    expect(readText(after).spec).toEqual({ batch: { global_batch_size: { base: 64, max: 128 } } });
    expect(valueAt({ batch: { global_batch_size: 64 } }, "batch.global_batch_size.base")).toBe(64);
  });

  it("that cannot be read stays as it is, and says where", () => {
    const wrong = "name: first\nelastic: {max_workers: 4\n";
    expect(readText(wrong).spec).toBeNull();
    expect(readText(wrong).problem).toMatch(/^Line \d+: /);
    expect(withValue(wrong, "name", "second")).toBe(wrong);
    expect(readText("- a\n").problem).toContain("fields with values");
  });

  it("comes from a spec, and an empty one is one", () => {
    expect(readText(textOf({ name: "a", command: ["x"] })).spec).toEqual({
      name: "a",
      command: ["x"],
    });
    expect(readText("")).toEqual({ spec: {}, problem: "" });
  });
});

describe("an entry", () => {
  it.each([
    ["text", "a", "a"],
    ["number", "3", 3],
    ["number", "x", "x"],
    ["yesno", "true", true],
    ["words", "python\ntrain.py", ["python", "train.py"]],
    ["numbers", "1, 2", [1, 2]],
    ["pairs", "LR=0.1\nA=b=c", { LR: "0.1", A: "b=c" }],
  ] as const)("of kind %s means what it shows", (kind, entry, value) => {
    expect(valueOf(entry, kind)).toEqual(value);
    expect(entryOf(value, kind)).toBe(entry);
    expect(valueOf("  ", kind)).toBeUndefined();
  });
});

describe("asking while somebody types", () => {
  it("has one question under way, skips those between, and tells the newest answer", async () => {
    const waiting: (() => void)[] = [];
    const sent: string[] = [];
    const answers: ((answer: string) => void)[] = [];
    const told: (string | null)[] = [];
    const asking = new NewestAnswer<string, string>(
      (question) => {
        sent.push(question);
        return new Promise((resolve) => answers.push(resolve));
      },
      (_, answer) => told.push(answer),
      (work) => {
        waiting.push(work);
        return () => waiting.splice(waiting.indexOf(work), 1);
      },
    );
    const settle = () => {
      for (const work of waiting.splice(0)) work();
    };
    asking.ask("a");
    asking.ask("b");
    settle();
    expect(sent).toEqual(["b"]);
    asking.ask("c");
    settle();
    asking.ask("d");
    settle();
    expect(sent).toEqual(["b"]);
    answers[0]?.("old");
    await Promise.resolve();
    expect([sent, told]).toEqual([["b", "d"], []]);
    answers[1]?.("new");
    await Promise.resolve();
    expect(told).toEqual(["new"]);
  });
});

describe("the outlook", () => {
  const outlook: Outlook = {
    action: "start",
    pool: "default",
    message: "",
    workers: 2,
    global_batch_size: 64,
    gives_way: [
      { job_id: "x", name: "text-small", team: "language", workers_without: 2, workers_with: 1 },
    ],
    start: null,
    finish: { p10: null, p50: "2026-11-21T15:40:00Z", p90: null },
  };
  const clock = (moment: string) => moment.slice(11, 16);

  it("is one sentence", () => {
    expect(outlookInWords(outlook, clock)).toEqual({
      tone: "good",
      text: "Starts now on 2 workers in pool default, shrinks text-small to 1, done at about 15:40.",
    });
  });

  it("says when it waits, and that nobody knows", () => {
    const waits: Outlook = { ...outlook, action: "wait", gives_way: [], finish: null };
    expect(outlookInWords(waits, clock).text).toBe("Waits in pool default.");
    expect(outlookInWords({ ...waits, pool: "" }, clock).text).toBe("Waits.");
    const unknown: Outlook = { ...waits, action: "" };
    expect(outlookInWords(unknown, clock).tone).toBe("neutral");
  });
});
