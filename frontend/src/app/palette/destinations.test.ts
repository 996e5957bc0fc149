import { describe, expect, it } from "vitest";

import { matching, nodePages, pagesFor, teamPages } from "./destinations";

const ADA = { username: "ada", is_admin: false, teams: ["vision"] };

function names(search: string, most = 5): string[] {
  const all = [
    ...pagesFor(ADA as never),
    ...teamPages([{ name: "vision" }, { name: "supervision" }]),
    ...nodePages([{ name: "h100", nodes: [{ name: "node-1" }, { name: "node-2" }] }]),
  ];
  return matching(all, search, most).map(({ name }) => name);
}

describe("what can be gone to by name", () => {
  it("shows the pages in the bar's order before anything is typed", () => {
    expect(names("", 3)).toEqual(["Overview", "Jobs", "Submit a job"]);
  });
  it("puts names that begin with it first", () => {
    expect(names("vision")).toEqual(["vision", "supervision"]);
  });
  it("finds every word, in any order, in the name or in what is there", () => {
    expect(names("h100 node")).toEqual(["node-1", "node-2"]);
    expect(names("GPU price")).toEqual(["Autoscaler"]);
  });
  it("is bounded", () => {
    expect(names("e", 2)).toHaveLength(2);
  });
  it("offers the admin pages to admins alone", () => {
    expect(names("admin")).toEqual([]);
    const all = pagesFor({ ...ADA, is_admin: true } as never);
    expect(matching(all, "admin", 5).map(({ to }) => to)).toEqual(["/admin/"]);
  });
  it("leads to the node in its pool", () => {
    const [node] = nodePages([{ name: "a b", nodes: [{ name: "n&1" }] }]);
    expect(node?.to).toBe("/cluster?pool=a+b&node=n%261");
  });
});
