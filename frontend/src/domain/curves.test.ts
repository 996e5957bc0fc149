import { describe, expect, it } from "vitest";

import { aPoint, at } from "../testing/samples";
import {
  bordersOf,
  curveOf,
  mainMetric,
  pacesOf,
  metricNames,
  smooth,
  sparklinePath,
} from "./curves";
import type { Change } from "./changes";
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
    expect(curveOf(points, ({ values }) => values.loss, "time")).toEqual([
      [milliseconds(at(1)), 2],
    ]);
  });

  it("are drawn over steps as they were done last", () => {
    const steps = [1, 2, 3, 2, 3].map((step, second) => ({
      ...aPoint(second, { loss: second }),
      step,
    }));
    expect(curveOf(steps, ({ values }) => values.loss, "step")).toEqual([
      [1, 0],
      [2, 3],
      [3, 4],
    ]);
  });

  it("are measured only as far as they say something", () => {
    expect(pacesOf([aPoint(1, {})])).toHaveLength(4);
    const watched = {
      ...aPoint(1, {}),
      step_seconds: 0,
      communication_seconds: 0,
      learning_rate: 0,
    };
    expect(pacesOf([watched]).map(({ name }) => name)).toEqual(["Throughput"]);
  });
});

describe("the borders between generations", () => {
  const changes = [1.5, 9].map((second) => ({
    at: milliseconds(at(second)),
    workers: 2,
    batch: 64,
  })) as unknown as Change[];
  const points = [aPoint(1, {}), aPoint(2, {})];

  it("lie at their moments, or with the first step that was measured after them", () => {
    const places = (axis: "time" | "step") =>
      bordersOf(changes, points, axis).map(({ place }) => place);
    expect(places("time")).toEqual(changes.map((change) => change.at));
    expect(places("step")).toEqual([2]);
  });

  it("are not drawn over steps that were lost and done again, nor twice at one step", () => {
    const done = [10, 20, 30, 15, 25].map((step, second) => ({ ...aPoint(second, {}), step }));
    const changed = [1, 2, 2.5, 2.7].map((second, number) => ({
      at: milliseconds(at(second)),
      workers: number + 1,
      batch: 64,
    })) as unknown as Change[];
    const borders = bordersOf(changed, done, "step");
    expect(borders.map(({ place, workers }) => [place, workers])).toEqual([[15, 4]]);
    expect(bordersOf(changed, done, "time")).toHaveLength(4);
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
