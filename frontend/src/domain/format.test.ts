import { describe, expect, it } from "vitest";

import {
  formatBytes,
  formatCount,
  formatDuration,
  formatGpuHours,
  formatGpuTime,
  formatMetric,
  formatPercent,
  formatShare,
  formatStep,
  humanise,
  plural,
} from "./format";

describe("a duration", () => {
  it.each([
    [null, "–"],
    [0.083, "0.08 s"],
    [4.24, "4.2 s"],
    [42, "42 s"],
    [59.7, "1 min"],
    [192, "3 min 12 s"],
    [3600, "1 h"],
    [7530, "2 h 6 min"],
    [86_399, "1 d"],
    [273_600, "3 d 4 h"],
  ])("of %s seconds reads %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe("a share", () => {
  it.each([
    [null, "–"],
    [0.421, "42 %"],
    [0.999, "99 %"],
    [1, "100 %"],
  ])("of %s reads %s, and is never called whole too early", (share, text) => {
    expect(formatPercent(share)).toBe(text);
  });
});

describe("a part of what is whole", () => {
  it.each([
    [0.597, "60 %"],
    [0.403, "40 %"],
    [0, "0 %"],
    [0.001, "< 1 %"],
    [0.999, "> 99 %"],
    [1, "100 %"],
  ])("of %s reads %s, so that parts add up", (share, text) => {
    expect(formatShare(share)).toBe(text);
  });
});

describe("a number", () => {
  it("is exact while that is short", () => {
    expect(formatCount(9812)).toBe("9,812");
    expect(formatCount(12_345)).toBe("12.3K");
  });

  it("keeps three digits of a metric, however small", () => {
    expect(formatMetric(0.23148)).toBe("0.231");
    expect(formatMetric(0.000123)).toBe("1.2e-4");
    expect(formatMetric(0)).toBe("0");
    expect(formatMetric(Number.NaN)).toBe("–");
  });

  it("changes the unit of GPU time with its size", () => {
    expect(formatGpuTime(0.3)).toBe("0.3 GPU-s");
    expect(formatGpuTime(1800)).toBe("30 GPU-min");
    expect(formatGpuTime(51_200)).toBe("14.2 GPU-h");
  });
});

describe("the time of a step", () => {
  it("is in milliseconds below a second", () => {
    expect(formatStep(0.0084)).toBe("8.4 ms");
    expect(formatStep(0.12)).toBe("120 ms");
    expect(formatStep(1.5)).toBe("1.5 s");
  });
});

describe("bytes", () => {
  it("are counted in units of 1024", () => {
    expect(formatBytes(0)).toBe("0 B");
    expect(formatBytes(1023)).toBe("1,020 B");
    expect(formatBytes(1024)).toBe("1 KiB");
    expect(formatBytes(45_193_626)).toBe("43.1 MiB");
    expect(formatBytes(5 * 1024 ** 5)).toBe("5,120 TiB");
  });
});

describe("words", () => {
  it("come from codes", () => {
    expect(humanise("val_loss")).toBe("Val loss");
  });

  it("agree with their number", () => {
    expect(plural(1, "job")).toBe("1 job");
    expect(plural(0, "job")).toBe("0 jobs");
  });
});

describe("GPU-hours of an account", () => {
  it.each([
    [0, "0"],
    [0.01, "< 0.1"],
    [0.25, "0.3"],
    [47.04, "47.0"],
    [1234.56, "1,234.6"],
  ])("of %s read %s", (gpuHours, text) => {
    expect(formatGpuHours(gpuHours)).toBe(text);
  });
});
