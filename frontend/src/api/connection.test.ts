import { describe, expect, it } from "vitest";

import { Connection } from "./connection";

describe("the connection", () => {
  it("is lost with silence and found with the next answer, also one that refuses", () => {
    const connection = new Connection();
    const seen: boolean[] = [];
    connection.subscribe(() => seen.push(connection.isLost()));
    connection.reportSilence();
    connection.reportSilence();
    connection.reportAnswer(403);
    expect(seen).toEqual([true, false]);
  });

  it("is lost when a proxy answers for the service", () => {
    const connection = new Connection();
    connection.reportAnswer(502);
    expect(connection.isLost()).toBe(true);
    connection.reportAnswer(500);
    expect(connection.isLost()).toBe(false);
  });

  it("leaves those alone who no longer listen", () => {
    const connection = new Connection();
    let calls = 0;
    connection.subscribe(() => calls++)();
    connection.reportSilence();
    expect(calls).toBe(0);
  });
});
