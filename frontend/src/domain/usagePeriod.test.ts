import { describe, expect, it } from "vitest";

import { addressOfPeriod, monthsBefore, periodOf } from "./usagePeriod";

const TODAY = "2026-11-28";
const said = (address: string) => periodOf(new URLSearchParams(address), TODAY);

describe("the time of an account", () => {
  it("is the last 30 days, today among them, if the address says nothing that can be", () => {
    const usual = { first: "2026-10-30", last: TODAY, text: "Last 30 days", by: "day" };
    for (const address of ["", "month=2026-13", "since=yesterday", "until=2026-11-99"]) {
      expect(said(address)).toEqual(usual);
    }
  });

  it("is a month from its first day to its last", () => {
    expect(said("month=2024-02")).toMatchObject({
      first: "2024-02-01",
      last: "2024-02-29",
      text: "February 2024",
    });
    expect(said("month=2025-12")).toMatchObject({ first: "2025-12-01", last: "2025-12-31" });
  });

  it("is from one day to another, whichever was chosen first", () => {
    expect(said("since=2026-11-05&until=2026-11-01")).toMatchObject({
      first: "2026-11-01",
      last: "2026-11-05",
      text: "1 Nov 2026 – 5 Nov 2026",
    });
    expect(said("since=2026-11-27")).toMatchObject({ first: "2026-11-27", last: TODAY });
  });

  it("tells months apart where there would be too many days, and is never longer than allowed", () => {
    expect(said("since=2026-08-28").by).toBe("day");
    expect(said("since=2026-08-27").by).toBe("month");
    expect(said("since=2019-01-01")).toMatchObject({ first: "2023-11-25", by: "month" });
  });

  it("keeps what else stands in the address", () => {
    const address = new URLSearchParams("label=project&month=2026-10");
    expect(addressOfPeriod(address, { since: "2026-11-01" }).toString()).toBe(
      "label=project&since=2026-11-01",
    );
  });

  it("offers the last twelve months", () => {
    const months = monthsBefore("2026-03-31");
    expect(months.map(({ month }) => month).slice(0, 4)).toEqual([
      ...["2026-03", "2026-02", "2026-01", "2025-12"],
    ]);
    expect(months).toHaveLength(12);
  });
});
