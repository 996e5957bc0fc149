import { describe, expect, it } from "vitest";

import { at } from "../testing/samples";
import {
  describeAge,
  describeCalibration,
  describeGain,
  describeLately,
  describeSpan,
  describeTimeLeft,
} from "./predictions";
import { milliseconds } from "./time";

const now = milliseconds(at(0));

describe("a predicted moment", () => {
  it("has a middle and a range", () => {
    const span = { p10: at(60), p50: at(90), p90: at(200) };
    expect(describeSpan(span, now)).toEqual({
      middle: "in 1 min 30 s",
      range: "probably 1 min to 3 min 20 s",
    });
  });

  it("may have no upper end, or lie beyond all that was looked at", () => {
    expect(describeSpan({ p10: at(60), p50: at(90), p90: null }, now).range).toBe(
      "probably 1 min or more",
    );
    expect(describeSpan({ p10: null, p50: null, p90: null }, now)).toEqual({
      middle: "not soon",
      range: "probably later than was looked ahead",
    });
  });

  it.each([
    [[-9, -3, 20], "any moment", "probably within 20 s"],
    [[-9, 5, 20], "in 5.0 s", "probably within 20 s"],
    [[0, 0, 0], "any moment", "later than was predicted"],
    [[-60, -30, -0.2], "any moment", "later than was predicted"],
    [[-9, -3, null], "any moment", "from now on"],
  ])("that has passed is not told to come in no time: %j", ([p10, p50, p90], middle, range) => {
    const moment = (seconds: number | null | undefined) => (seconds == null ? null : at(seconds));
    const span = { p10: moment(p10), p50: moment(p50), p90: moment(p90) };
    expect(describeSpan(span, now)).toEqual({ middle, range });
  });
});

describe("the age of a prediction", () => {
  it("is told once it is old", () => {
    expect(describeAge({ made_at: at(-80), old_at: at(-20) }, now)).toBe("as of 1 min 20 s ago");
    expect(describeAge({ made_at: at(-59), old_at: at(1) }, now)).toBe("");
  });
});

describe("the time left", () => {
  const prediction = {
    made_at: at(0),
    old_at: at(60),
    start: null,
    lately: null,
    finish: { p10: at(200), p50: at(240), p90: at(300) },
  };

  it("is that of the plan, so that a page shows one number", () => {
    expect(describeTimeLeft({ prediction, eta_seconds: 480 }, now)).toBe("4 min left");
  });

  it("says so where it is only that of the present speed", () => {
    expect(describeTimeLeft({ prediction: null, eta_seconds: 480 }, now)).toBe(
      "8 min left at the present speed",
    );
  });

  it("is not said to be nothing while the job trains on", () => {
    const soon = { ...prediction, finish: { p10: at(-9), p50: at(0), p90: at(30) } };
    expect(describeTimeLeft({ prediction: soon, eta_seconds: 480 }, now)).toBe("ends any moment");
    const over = { ...prediction, finish: { p10: at(-9), p50: at(-5), p90: at(-1) } };
    expect(describeTimeLeft({ prediction: over, eta_seconds: 480 }, now)).toBe(
      "longer than was predicted",
    );
    expect(describeTimeLeft({ prediction: null, eta_seconds: 0.004 }, now)).toBe("ends any moment");
  });

  it("is not told where nobody knows it", () => {
    expect(describeTimeLeft({ prediction: null, eta_seconds: null }, now)).toBeNull();
    const late = { ...prediction, finish: { p10: null, p50: null, p90: null } };
    expect(describeTimeLeft({ prediction: late, eta_seconds: 480 }, now)).toBeNull();
  });
});

describe("how the last ranges did", () => {
  it("is told in jobs, and not at all while there are none", () => {
    expect(describeLately({ held: 8, outcomes: 10 })).toBe(
      "8 of the last 10 jobs like it ended in their range",
    );
    expect(describeLately({ held: 0, outcomes: 1 })).toBe(
      "the last job like it did not end in its range",
    );
    expect(describeLately(null)).toBe("");
  });
});

describe("calibration", () => {
  it("is called rough until there are enough outcomes", () => {
    const few = { held: 4, outcomes: 5, is_rough: true, by_horizon: [] };
    expect(describeCalibration(few)).toBe(
      "Predicted ranges held 4 of 5 times; rough until more jobs have ended",
    );
    const none = { held: 0, outcomes: 0, is_rough: true, by_horizon: [] };
    expect(describeCalibration(none)).toMatch(/^Predicted ranges are rough/);
    const many = { held: 80, outcomes: 100, is_rough: false, by_horizon: [] };
    expect(describeCalibration(many)).toBe("Predicted ranges held 80 of 100 times");
  });
});

describe("the gain of a rescale", () => {
  it("is told as predicted and as measured, as far as known", () => {
    expect(describeGain({ predictedGain: 0.31, measuredGain: 0.27 })).toBe(
      "predicted +31 %, measured +27 %",
    );
    expect(describeGain({ predictedGain: -0.12, measuredGain: null })).toBe("predicted −12 %");
    expect(describeGain({ predictedGain: null, measuredGain: null })).toBe("");
  });
});
