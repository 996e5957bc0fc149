import { expect, it } from "vitest";

import type { TeamBudget } from "../api/types";
import { budgetBar, budgetWords, limitChangesOf } from "./budget";

const BUDGET: TeamBudget = {
  team: "vision",
  month: "2026-11-01",
  gpu_hours: 100,
  used_gpu_hours: 50,
  near_gpu_hours: 80,
  forecast_gpu_hours: 75,
  then: "no_new",
  is_used_up: false,
  message: "",
};

it("is as long as the budget while the forecast is within it", () => {
  expect(budgetBar(BUDGET)).toEqual({ used: 0.5, forecast: 0.75, near: 0.8, end: 1 });
});

it("is as long as the forecast where that is more", () => {
  const bar = budgetBar({ ...BUDGET, forecast_gpu_hours: 200 });
  expect(bar).toEqual({ used: 0.25, forecast: 1, near: 0.4, end: 0.5 });
});

it("says its numbers in words", () => {
  expect(budgetWords(BUDGET)).toContain("used");
  expect(budgetWords(BUDGET)).toContain("by the end of the month");
});

it("changes what the form has, and lifts what is left empty", () => {
  const form = new FormData();
  form.set("gpu_hours_per_month", "12.5");
  form.set("max_running_jobs", " ");
  form.set("when_used_up", "pause");
  expect(limitChangesOf(form)).toEqual({
    gpu_hours_per_month: 12.5,
    max_running_jobs: null,
    when_used_up: "pause",
  });
});
