import { describe, expect, it } from "vitest";

import { aJob } from "../testing/samples";
import { hasBegun, progressInWords, speedOf } from "./progress";

describe("how far a job is", () => {
  const nothing = { progress: null, step: 0, started_at: null } as const;

  it("is a share where the length is known", () => {
    expect(progressInWords(aJob("a", { progress: 0.5 }))).toBe("50 %");
    expect(progressInWords(aJob("a", { progress: null }))).toBe("Length not known");
  });

  it("promises no beginning of what has ended", () => {
    expect(progressInWords(aJob("a", { ...nothing, state: "queued" }))).toBe("Not begun");
    expect(progressInWords(aJob("a", { ...nothing, state: "failed" }))).toBe("Never trained");
  });

  it("has a beginning once it trained, or may be doing so", () => {
    const begun = (given: Parameters<typeof aJob>[1]) => hasBegun(aJob("a", given));
    const started = { generation: 0, started_at: "2026-11-28T12:00:00Z" };
    expect(begun({ ...nothing, generation: 0, state: "queued" })).toBe(false);
    expect(begun({ ...started, state: "running" })).toBe(true);
    expect(begun({ ...started, state: "completed" })).toBe(true); // a plain script
    expect(begun({ ...started, state: "failed" })).toBe(false);
    expect(begun({ ...started, generation: 1, state: "failed" })).toBe(true);
  });

  it("is not known of a script that does not report it", () => {
    const job = aJob("a", { progress: null, step: 0, mode: "fixed" });
    expect(progressInWords(job)).toBe("Progress not reported");
  });
});

describe("how fast a job is", () => {
  it("is the speed of now while it lives", () => {
    const job = aJob("a", { state: "running", samples_per_second: 120.4 });
    expect(speedOf(job)).toEqual({ value: "120", note: "samples/s" });
  });

  it("is its average once it has ended, when it trains no more", () => {
    expect(speedOf(aJob("a"))).toEqual({
      value: "320",
      note: "samples/s on average, 19.2K in all",
    });
    expect(speedOf(aJob("a", { samples: 0, trained_seconds: 0 })).value).toBe("–");
  });
});
