import { describe, expect, it } from "vitest";

import { aPoint, at } from "../testing/samples";
import { curveOf, mainMetric, metricNames, smooth, sparklinePath } from "./curves";
import { milliseconds } from "./time";

describe("the metrics of a job", () => {
  it("begin with the loss, then other losses, then the rest by name", () => {
    const points = [aPoint(1, { recall: 1, val_loss: 1 }), aPoint(2, { accuracy: 1, loss: 1 })];
    expect(metricNames(points)).toEqual(["loss", "val_loss", "accuracy", "recall"]);
  });

  it("have a main one only when something was logged as a number", () => {
    expect(mainMetric({ accuracy: 0.9, loss: 0.1 })).toBe("loss");
    expect(mainMetric({ loss: null })).toBeNull();
  });

  it("leave out moments at which a metric was not logged or was no number", () => {
    const points = [aPoint(1, { loss: 2 }), aPoint(2, {}), aPoint(3, { loss: null })];
    expect(curveOf(points, "loss")).toEqual([[milliseconds(at(1)), 2]]);
  });
});

describe("smoothing", () => {
  it("leaves a constant as it is from the first point on", () => {
    const points = [1, 2, 3].map((moment) => [moment, 7] as const);
    for (const [, value] of smooth(points)) expect(value).toBeCloseTo(7, 12);
  });

  it("follows a step more slowly the more it keeps", () => {
    const points = [0, 0, 0, 1].map((value, moment) => [moment, value] as const);
    const last = (kept: number) => smooth(points, kept).at(-1)?.[1] ?? NaN;
    expect(last(0.2)).toBeGreaterThan(last(0.8));
  });
});

describe("a sparkline", () => {
  it("spans its box from the lowest to the highest value", () => {
    expect(sparklinePath([2, 0, 1], 10, 4)).toBe("M0.0 0.0L5.0 4.0L10.0 2.0");
  });

  it("of a constant or a single value does not divide by zero", () => {
    expect(sparklinePath([3, 3], 10, 4)).toBe("M0.0 4.0L10.0 4.0");
    expect(sparklinePath([3], 10, 4)).toBe("");
  });
});
