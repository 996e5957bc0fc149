import { describe, expect, it } from "vitest";

import type { Token } from "../api/types";
import { at } from "../testing/samples";
import {
  boundsOf,
  endsSoon,
  lifetimes,
  ownScopes,
  ownWishOf,
  rotationOf,
  SCOPES,
  wishOf,
} from "./tokens";

const DAY = 86_400;
const NOW = Date.parse(at(0));

function aToken(given: Partial<Token> = {}): Token {
  return {
    id: 1,
    name: "nightly",
    prefix: "ct_abcd",
    state: "valid",
    scopes: null,
    pools: null,
    labels: null,
    created_at: at(0),
    created_by: "carl",
    expires_at: at(90 * DAY),
    revoked_at: null,
    last_used_at: null,
    last_used_from: "",
    ...given,
  };
}

function aForm(...fields: readonly (readonly [string, string])[]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

describe("a token", () => {
  it("should be rotated in its last two weeks, while it is valid", () => {
    expect(endsSoon(aToken(), NOW)).toBe(false);
    expect(endsSoon(aToken({ expires_at: at(13 * DAY) }), NOW)).toBe(true);
    expect(endsSoon(aToken({ expires_at: at(13 * DAY), state: "revoked" }), NOW)).toBe(false);
    expect(endsSoon(aToken({ expires_at: null }), NOW)).toBe(false);
  });

  it("lasts no longer than its maker may let it", () => {
    const days = (longest: number, isAdmin: boolean) =>
      lifetimes(longest, isAdmin).offered.map(({ value }) => value);
    expect(days(365, false)).toEqual(["7", "30", "90", "180", "365"]);
    expect(days(45, false)).toEqual(["7", "30", "45"]);
    expect(days(45, true).at(-1)).toBe("");
    expect(lifetimes(45, false).usual).toBe("45");
    expect(lifetimes(365, false).usual).toBe("90");
  });

  it("is made with the scopes that were chosen, or for all that tokens may", () => {
    const some = aForm(["name", " nightly "], ["may", "some"], ["scope", "submit"], ["days", "30"]);
    const any = { pools: null, labels: null };
    expect(wishOf(some)).toEqual({ name: "nightly", days: 30, scopes: ["submit"], ...any });
    const all = aForm(["name", "nightly"], ["may", "all"], ["days", ""]);
    expect(wishOf(all)).toEqual({ name: "nightly", days: null, scopes: null, ...any });
  });

  it("is limited to pools and labels, and says so", () => {
    const form = aForm(["name", "ci"], ["pools", " a100, h100 "], ["labels", "project=digits a="]);
    const { pools, labels } = wishOf(form);
    expect([pools, labels]).toEqual([["a100", "h100"], { project: "digits", a: "" }]);
    expect(boundsOf(aToken({ pools: ["a100", "h100"], labels: { project: "digits" } }))).toEqual([
      "pool a100 or h100",
      "project=digits",
    ]);
    expect(boundsOf(aToken())).toEqual([]);
  });

  it("of one's own has the scopes that were chosen, and `admin` is for admins", () => {
    const form = aForm(["name", "laptop"], ["scope", "admin"], ["scope", "read"], ["days", "30"]);
    expect(ownWishOf(form)).toEqual({
      name: "laptop",
      days: 30,
      scopes: ["read", "admin"],
      pools: null,
      labels: null,
    });
    const offered = (isAdmin: boolean) => ownScopes(isAdmin).map(({ scope }) => scope);
    expect(offered(true)).toEqual([...offered(false), "admin"]);
    expect(SCOPES.map(({ scope }) => scope)).toEqual(offered(false));
  });

  it("is rotated with an overlap in hours", () => {
    expect(rotationOf(aForm(["overlap", "0"], ["days", "90"]))).toEqual({
      days: 90,
      overlap_hours: 0,
    });
  });
});
