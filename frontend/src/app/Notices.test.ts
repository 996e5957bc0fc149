import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";

import { Notices } from "./Notices";

function shown(notices: string[]): string {
  return renderToStaticMarkup(createElement(Notices, { notices }));
}

describe("notices of the installation", () => {
  it("are not there while there is nothing to say", () => {
    expect(shown([])).toBe("");
  });

  it("are the service's sentences, and nothing but text", () => {
    expect(shown(["Jobs run as <root>."])).toContain("Jobs run as &lt;root&gt;.");
  });
});
