import { describe, expect, it } from "vitest";

import { assignTeamColours, colourSlot, PALETTE_SIZE } from "./teamColours";

describe("a team's colour", () => {
  it("is the same whatever order the teams come in", () => {
    expect(assignTeamColours(["vision", "language"])).toEqual(
      assignTeamColours(["language", "vision"]),
    );
  });

  it("is its own while the palette lasts", () => {
    const names = Array.from({ length: PALETTE_SIZE }, (_, number) => `team-${number}`);
    expect(new Set(assignTeamColours(names).values()).size).toBe(PALETTE_SIZE);
  });

  it("is shared, not missing, when there are more teams than colours", () => {
    const names = Array.from({ length: PALETTE_SIZE + 3 }, (_, number) => `team-${number}`);
    expect(assignTeamColours(names).size).toBe(names.length);
  });

  it("does not move when another team appears that wants another colour", () => {
    const before = assignTeamColours(["language", "vision"]);
    const after = assignTeamColours(["language", "robotics", "vision"]);
    expect(colourSlot(after, "vision")).toBe(colourSlot(before, "vision"));
  });
});
