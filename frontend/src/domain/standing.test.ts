import { describe, expect, it } from "vitest";

import { aTeam } from "../testing/samples";
import { shareBar } from "./standing";

describe("a team's bar", () => {
  it("shows its own GPUs apart from those it borrowed", () => {
    expect(shareBar(aTeam(), 4)).toEqual({ own: 50, borrowed: 25, guarantee: 50, fairShare: 62.5 });
  });

  it("borrows nothing below the guarantee", () => {
    expect(shareBar(aTeam({ allocated: 1 }), 4)).toMatchObject({ own: 25, borrowed: 0 });
  });

  it("never leaves the bar, also when more is guaranteed than there is", () => {
    expect(shareBar(aTeam({ guaranteed: 6, allocated: 0 }), 4).guarantee).toBe(100);
  });
});
