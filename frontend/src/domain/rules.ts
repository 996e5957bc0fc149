/** How are a team's rules put in words, and written as text? */

import type { RuleSet } from "../api/types";
import { textOf } from "./specText";

export interface RuleInWords {
  /** As refusals name it: `bounds.gpus`. */
  readonly name: string;
  readonly says: string;
}

/** One for each rule, in the order in which a refusal would name them. */
export function rulesInWords(rules: RuleSet): readonly RuleInWords[] {
  return [
    ...leavesOf(rules.defaults ?? {}, "defaults"),
    ...Object.entries(rules.bounds ?? {}).map(([name, bound]) => ({
      name: `bounds.${name}`,
      says: ["least", "most"]
        .filter((side) => bound[side] !== undefined)
        .map((side) => `at ${side} ${shown(bound[side])}`)
        .join(", "),
    })),
    ...Object.entries(rules.labels ?? {}).map(([name, label]) => ({
      name: `labels.${name}`,
      says: labelInWords(label),
    })),
    ...(["pools", "modes"] as const).flatMap((part) => {
      const words = rules[part];
      return words == null ? [] : [{ name: part, says: words.join(", ") }];
    }),
  ];
}

/** What a spec gets, field by field. */
export function leavesOf(part: object, above: string): readonly RuleInWords[] {
  return Object.entries(part).flatMap(([name, value]: [string, unknown]) => {
    const path = above === "" ? name : `${above}.${name}`;
    const isPart = typeof value === "object" && value !== null && !Array.isArray(value);
    return isPart && Object.keys(value).length > 0
      ? leavesOf(value, path)
      : [{ name: path, says: shown(value) }];
  });
}

/** As somebody writes them: without the parts that say nothing. */
export function textOfRules(rules: RuleSet): string {
  const said = Object.entries(rules).filter(
    ([, part]) => part !== null && Object.keys(part as object).length > 0,
  );
  return said.length === 0 ? "" : textOf(Object.fromEntries(said));
}

function labelInWords(label: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(label.values)) return `one of ${label.values.map(shown).join(", ")}`;
  return label.pattern === undefined ? "any value" : `like ${shown(label.pattern)}`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
