/** How are the text of a spec and the fields of a form two views of one thing? The text counts. */

import { Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";

import type { FieldKind } from "./specSchema";

export type SpecDocument = Readonly<Record<string, unknown>>;

export interface ReadText {
  /** What it says; null: it cannot be read. */
  readonly spec: SpecDocument | null;
  /** Why not, and where; empty if it can. */
  readonly problem: string;
}

export function readText(text: string): ReadText {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lines.linePos(error.pos[0]);
    return { spec: null, problem: `Line ${line}: ${error.message}` };
  }
  if (document.contents === null) return { spec: {}, problem: "" };
  if (!isMap(document.contents)) {
    return { spec: null, problem: "A spec is fields with values, such as name: first." };
  }
  try {
    return { spec: document.toJS() as SpecDocument, problem: "" };
  } catch (error_) {
    return { spec: null, problem: error_ instanceof Error ? error_.message : "It cannot be read." };
  }
}

/** The text with another value at this place; comments, order and all else stay as they are. */
export function withValue(text: string, path: string, value: unknown): string {
  const document = parseDocument(text);
  if (document.errors.length > 0) return text;
  const way = path.split(".");
  if (value === undefined) remove(document, way);
  else {
    makeRoom(document, way);
    document.setIn(way, document.createNode(value, { flow: Array.isArray(value) }));
  }
  return isMap(document.contents) && document.contents.items.length === 0
    ? ""
    : document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** A number stands for the base of a range: it becomes one when another end of it is set. */
function makeRoom(document: Document, way: readonly string[]): void {
  for (let length = 1; length < way.length; length += 1) {
    const before = way.slice(0, length);
    const node = document.getIn(before, true);
    if (!isScalar(node)) continue;
    const isBase = way[length - 1] === "global_batch_size" && typeof node.value === "number";
    document.setIn(before, document.createNode(isBase ? { base: node.value } : {}));
  }
}

function remove(document: Document, way: readonly string[]): void {
  document.deleteIn(way);
  for (let length = way.length - 1; length > 0; length -= 1) {
    const around = document.getIn(way.slice(0, length));
    if (!isMap(around) || around.items.length > 0) return;
    document.deleteIn(way.slice(0, length));
  }
}

export function textOf(spec: SpecDocument): string {
  return new Document(spec).toString({ lineWidth: 0 });
}

export function valueAt(spec: SpecDocument, path: string): unknown {
  let value: unknown = spec;
  for (const name of path.split(".")) {
    if (typeof value === "number" && name === "base") return value; // a batch without a range
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Whether it is for many jobs. */
export function hasArray(text: string): boolean {
  return readText(text).spec?.array !== undefined;
}

/** A document whose field `spec` is this one, word for word. */
export function withinSpec(text: string): string {
  const inner = text.replace(/^---[ \t]*$/m, ""); // where a document begins is said outside
  const lines = inner.split("\n").map((line) => (line === "" ? "" : `  ${line}`));
  return `spec:\n${lines.join("\n")}\n`;
}

/** What is wrong with a field, and what to do. */
export function sentenceOf(wrong: { readonly problem: string; readonly remedy: string }): string {
  return [wrong.problem, wrong.remedy]
    .filter((part) => part !== "")
    .map((part) => (part.endsWith(".") ? part : `${part}.`))
    .join(" ");
}

/** As a field shows it. */
export function entryOf(value: unknown, kind: FieldKind): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(shown).join(kind === "numbers" ? ", " : "\n");
  if (kind === "pairs" && typeof value === "object") {
    return Object.entries(value)
      .map(([name, one]) => `${name}=${shown(one)}`)
      .join("\n");
  }
  return shown(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What an entry of a field means; undefined: the standard, which need not be said. */
export function valueOf(entry: string, kind: FieldKind): unknown {
  const text = entry.trim();
  if (text === "") return undefined;
  switch (kind) {
    case "text":
    case "choice":
      return text;
    case "yesno":
      return text === "true";
    case "number":
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case "words":
      return entry.split("\n").filter((line) => line.trim() !== "");
    case "numbers":
      return text.split(/[\s,]+/).map((one) => (Number.isFinite(Number(one)) ? Number(one) : one));
    case "pairs":
      return Object.fromEntries(
        entry
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map((line) => {
            const [name = "", ...rest] = line.split("=");
            return [name.trim(), rest.join("=").trim()];
          }),
      );
  }
}
