import { describe, expect, it } from "vitest";

import { aJob, at } from "../testing/samples";
import { columnsOf, JOB_COLUMNS, jobsAsCsv, metricOf, namedColumns } from "./jobColumns";

describe("the columns of a table of jobs", () => {
  it("are the usual ones unless an address names others", () => {
    expect(namedColumns(columnsOf(null))).toBeNull();
    expect(columnsOf("gpu-time,state,nonsense")).toEqual(["name", "state", "gpu-time"]);
    expect(namedColumns(["gpu-time", "name"])).toBe("name,gpu-time");
    expect(columnsOf("")).toEqual(["name"]);
  });

  it("are each there once, by title and in CSV", () => {
    for (const named of [
      JOB_COLUMNS.map(({ title }) => title),
      JOB_COLUMNS.map(({ csv }) => csv),
    ]) {
      expect(new Set(named).size).toBe(JOB_COLUMNS.length);
    }
  });

  it("are copied in plain units, with the id", () => {
    const job = aJob("k3v9", { labels: { net: "bert", paper: "icml" }, completion_seconds: 65.5 });
    const running = aJob("x", { completion_seconds: null, values: {} });
    expect(jobsAsCsv([job, running], ["name", "submitted", "took", "labels", "metric"])).toBe(
      "name,labels,submitted_at,completion_seconds,metric,id\n" +
        `job-k3v9,net=bert paper=icml,${at(0)},65.5,0.123,k3v9\n` +
        `job-x,,${at(0)},,,x\n`,
    );
  });

  it("show the loss before any other metric", () => {
    expect(metricOf({ accuracy: 0.9, loss: 0.1 })).toEqual({ name: "loss", value: 0.1 });
    expect(metricOf({ loss: null })).toBeNull();
  });
});
