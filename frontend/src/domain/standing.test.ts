import { describe, expect, it } from "vitest";

import { aTeam } from "../testing/samples";
import { exchangeOf, shareBar } from "./standing";

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

describe("what a team takes of others or leaves to them", () => {
  it.each([
    [{}, "Borrowed", 1, "beyond its guarantee"],
    [{ guaranteed: 0, borrowed: 3 }, "Borrowed", 3, "without a guarantee"],
    [{ borrowed: 0, lent: 2 }, "Lent", 2, "of its guarantee, used by others"],
    [{ borrowed: 1, lent: 2 }, "Borrowed", 1, "beyond its guarantee, and lends 2"],
  ])("of %o is %s %i", (given, name, gpus, meaning) => {
    expect(exchangeOf(aTeam(given))).toEqual({ name, gpus, meaning });
  });
});
