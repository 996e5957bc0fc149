import { describe, expect, it } from "vitest";

import {
  choicesOf,
  kindName,
  occasionOf,
  OCCASIONS,
  problemOf,
  toldIn,
  toldInWords,
  wishOf,
} from "./webhooks";

function form(values: Readonly<Record<string, string | readonly string[]>>): FormData {
  const filled = new FormData();
  for (const [name, value] of Object.entries(values)) {
    for (const one of [value].flat()) filled.append(name, one);
  }
  return filled;
}

describe("of what a webhook is told", () => {
  it.each(OCCASIONS.filter(({ told }) => told !== null))(
    "$occasion is read from it as it was asked for",
    ({ occasion, meaning }) => {
      const told = toldIn(form({ occasion }), null);
      expect(occasionOf(told)).toBe(occasion);
      expect(toldInWords(told)).toBe(meaning);
    },
  );

  it("is chosen event by event, the first of them by name", () => {
    const told = toldIn(
      form({ occasion: "chosen", kind: ["idle", "state_changed"], state: "failed" }),
      { is_on_request: true },
    );
    expect(told).toEqual({
      kinds: ["idle", "state_changed"],
      states: ["failed"],
      is_on_request: true,
    });
    expect(occasionOf(told)).toBe("chosen");
    expect(toldInWords(told)).toBe("Idle, State changed, of states only failed, if a job names it");
  });

  it("keeps a choice that this release does not know", () => {
    const kinds = ["unheard", "idle"] as never[];
    expect(choicesOf(["idle", "work_lost"], kinds)).toEqual(["idle", "work_lost", "unheard"]);
    const told = toldIn(form({ occasion: "chosen", kind: kinds, state: "resting" }), null);
    expect(told).toMatchObject({ kinds: ["unheard", "idle"], states: ["resting"] });
  });

  it("names a few events, and events of other releases by their codes", () => {
    const kinds = ["idle", "of_another_release", "worker_lost", "worker_hung", "work_lost"];
    expect(toldInWords({ kinds, states: [], is_on_request: false })).toBe(
      "Idle, of_another_release, Worker lost and 2 more",
    );
  });
});

it("adds a mail address as an address", () => {
  const filled = { name: " leads ", shape: "mail", url: "leads@example.com", occasion: "ends" };
  const wish = wishOf(form(filled), "vision");
  expect([wish.team, wish.name, wish.url]).toEqual(["vision", "leads", "mailto:leads@example.com"]);
});

it("tells how the last try went", () => {
  const tried = { at: "2026-11-01T00:00:00Z", seconds: 0.1 };
  expect(problemOf({ tries: [] })).toBe("");
  expect(problemOf({ tries: [{ ...tried, status: 200, problem: "" }] })).toBe("");
  expect(problemOf({ tries: [{ ...tried, status: 500, problem: "refused" }] })).toBe(
    "500: refused",
  );
  expect(problemOf({ tries: [{ ...tried, status: null, problem: "no answer" }] })).toBe(
    "no answer",
  );
  expect([kindName("test"), kindName("idle"), kindName("new")]).toEqual(["Test", "Idle", "new"]);
});
