import { describe, expect, it } from "vitest";

import type { RolePermission, TeamMember } from "../api/types";
import { mayDo, placeOf, whomToAsk } from "./roles";

function aMember(given: Partial<TeamMember> = {}): TeamMember {
  return {
    name: "ada",
    role: "member",
    team: "vision",
    is_active: true,
    from_provider: false,
    ...given,
  };
}

const ALL_JOBS: RolePermission = {
  permission: "change_all_jobs",
  meaning: "do the same with every job of the team",
  roles: ["lead"],
};

describe("a person's row", () => {
  it("says where a role comes from that is not changed here, and who cannot sign in", () => {
    expect(placeOf(aMember(), "vision")).toBe("");
    expect(placeOf(aMember({ team: "research", is_active: false }), "vision")).toBe(
      "by team research · cannot sign in now",
    );
  });
});

describe("who may not do something", () => {
  it("is told whom to ask, each once, and nobody who cannot sign in", () => {
    const carl = aMember({ name: "carl", role: "lead" });
    const above = { ...carl, team: "research" };
    const gone = aMember({ name: "dora", role: "lead", is_active: false });
    expect(whomToAsk([aMember(), carl, above, gone])).toBe("Ask carl or an admin.");
    expect(whomToAsk([aMember()])).toBe("Ask an admin.");
  });
});

describe("the table of roles", () => {
  it("knows that a team may let its members change all of its jobs", () => {
    expect(mayDo(ALL_JOBS, "member", false)).toBe(false);
    expect(mayDo(ALL_JOBS, "member", true)).toBe(true);
    expect(mayDo(ALL_JOBS, "viewer", true)).toBe(false);
    expect(mayDo(ALL_JOBS, "lead", false)).toBe(true);
  });
});
