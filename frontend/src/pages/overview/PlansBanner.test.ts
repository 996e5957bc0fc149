import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";

import type { Plans } from "../../api/types";
import { PlansNotice } from "./PlansBanner";

const WELL: Plans = { are_applied: true, since: null, message: "", jobs_left_out: 0 };
const SENTENCE = "No sound plan can be made for pool default: no job starts there.";

function shown(plans: Partial<Plans>): string {
  return renderToStaticMarkup(createElement(PlansNotice, { plans: { ...WELL, ...plans } }));
}

describe("the banner about plans", () => {
  it("is not there while plans are applied", () => {
    expect(shown({})).toBe("");
  });

  it("says the service's sentence, and since when, as an alert", () => {
    const banner = shown({
      are_applied: false,
      message: SENTENCE,
      since: "2026-11-22T12:00:00Z",
    });
    expect(banner).toContain('role="alert"');
    expect(banner).toContain(SENTENCE);
    expect(banner).toContain("It began");
    expect(banner).toContain("2026-11-22T12:00:00");
  });

  it("counts jobs that are left out, though plans are applied", () => {
    expect(shown({ jobs_left_out: 1 })).toContain("1 job is left out of plans");
    expect(shown({ jobs_left_out: 3 })).toContain("3 jobs are left out of plans");
    expect(shown({ jobs_left_out: 3 })).not.toContain("It began");
  });
});
