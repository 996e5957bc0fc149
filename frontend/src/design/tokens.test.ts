/// <reference types="node" />
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

const TOKENS = readFileSync(new URL("tokens.css", import.meta.url), "utf8");
const FEWEST_FOR_TEXT = 4.5; // WCAG 2.2, 1.4.3
const FEWEST_FOR_SHAPES = 3; // WCAG 2.2, 1.4.11

const THEMES = { light: coloursOf(1), dark: coloursOf(2) };
const GROUNDS = ["page", "surface", "surface-raised", "surface-sunken"];
const WORDS = ["text", "text-muted", "text-faint", "accent"];
const STATES = ["good", "info", "busy", "warning", "danger", "accent"];
const TEAMS = Array.from({ length: 8 }, (_, slot) => `team-${slot}`);

function coloursOf(place: 1 | 2): ReadonlyMap<string, string> {
  const found = TOKENS.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g);
  return new Map([...found].map((match) => [match[1] ?? "", match[place + 1] ?? ""]));
}

/** How far apart two colours are, from 1 to 21; WCAG's contrast ratio. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A colour with a part of the text's in it, as worker names in logs have. */
function mixed(colour: string, text: string, part: number): string {
  const channels = [1, 3, 5].map((start) => {
    const [own, other] = [colour, text].map((one) =>
      Number.parseInt(one.slice(start, start + 2), 16),
    );
    return Math.round((own ?? 0) * part + (other ?? 0) * (1 - part));
  });
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

describe.each(["light", "dark"] as const)("the %s theme", (theme) => {
  const colours = THEMES[theme];
  const of = (name: string): string => colours.get(name) ?? "";

  function tooFaint(pairs: readonly (readonly [string, string])[], fewest: number): string[] {
    return pairs
      .map(([word, ground]) => [word, ground, contrast(of(word), of(ground))] as const)
      .filter(([, , ratio]) => !(ratio >= fewest))
      .map(([word, ground, ratio]) => `${word} on ${ground}: ${ratio.toFixed(2)}`);
  }

  it("has words that can be read on every ground", () => {
    const pairs = WORDS.flatMap((word) => GROUNDS.map((ground) => [word, ground] as const));
    expect(tooFaint(pairs, FEWEST_FOR_TEXT)).toEqual([]);
  });

  it("has states that can be read on their own ground and on pages", () => {
    const pairs = STATES.flatMap((state) =>
      [`${state}-soft`, "surface"].map((ground) => [state, ground] as const),
    );
    expect(tooFaint([...pairs, ["on-accent", "accent"]], FEWEST_FOR_TEXT)).toEqual([]);
  });

  it("has teams that stand out, and names in logs that can be read", () => {
    const pairs = TEAMS.flatMap((team) =>
      ["page", "surface"].map((ground) => [team, ground] as const),
    );
    expect(tooFaint(pairs, FEWEST_FOR_SHAPES)).toEqual([]);
    const names = TEAMS.map((team) => mixed(of(team), of("text"), 0.6));
    const ratios = names.map((name) => contrast(name, of("surface-sunken")));
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(FEWEST_FOR_TEXT);
  });
});
