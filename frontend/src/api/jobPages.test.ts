import { describe, expect, it } from "vitest";

import { aJob } from "../testing/samples";
import { JobPages, MOST_PAGES, PAGE_ROWS, type JobPage } from "./jobPages";

/** A service with so many jobs, the newest first, whose cursors are the ids of last rows. */
class Service {
  jobs: string[];
  asked: string[] = [];
  isAway = false;

  constructor(jobs: number) {
    this.jobs = Array.from({ length: jobs }, (_, place) => String(place));
  }

  page(cursor: string): JobPage {
    const from = cursor === "" ? 0 : this.jobs.indexOf(cursor) + 1;
    const ids = this.jobs.slice(from, from + PAGE_ROWS);
    const hasMore = from + PAGE_ROWS < this.jobs.length;
    return { items: ids.map((id) => aJob(id)), next_cursor: hasMore ? (ids.at(-1) ?? null) : null };
  }

  readonly ask = (cursor: string): Promise<JobPage> => {
    this.asked.push(cursor);
    return this.isAway ? Promise.reject(new Error("away")) : Promise.resolve(this.page(cursor));
  };
}

function opened(jobs: number): readonly [JobPages, Service] {
  const service = new Service(jobs);
  const pages = new JobPages(service.ask);
  pages.show(0, 20);
  pages.top(service.page(""));
  return [pages, service];
}

/** Let promises that are settled be heard. */
async function heard(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

async function scrolled(pages: JobPages, from: number, to: number, step = 25): Promise<void> {
  for (let row = from; step > 0 ? row <= to : row >= to; row += step) {
    pages.show(Math.max(0, row), row + 20);
    await heard();
  }
}

describe("the pages of a list of jobs", () => {
  it("asks for nothing beyond what is nearly on screen", async () => {
    const [pages, service] = opened(100_000);
    await heard();
    expect(service.asked).toEqual([]);
    expect(pages.at(99)?.id).toBe("99");
    pages.show(40, 60);
    await heard();
    expect(service.asked).toEqual(["99"]);
    expect(pages.at(100)?.id).toBe("100");
  });

  it("knows how many rows there are once the last is here", async () => {
    const [pages] = opened(230);
    expect(pages.rows).toBeGreaterThan(PAGE_ROWS);
    expect(pages.rows).toBeLessThan(230);
    await scrolled(pages, 0, 230);
    expect(pages.rows).toBe(230);
  });

  it("keeps few of very many rows, and asks once for each page on the way", async () => {
    const [pages, service] = opened(20_000);
    await scrolled(pages, 0, 19_900);
    expect(service.asked).toHaveLength(199);
    expect(new Set(service.asked).size).toBe(199);
    expect(pages.held).toHaveLength(MOST_PAGES * PAGE_ROWS);
    expect(pages.at(19_950)?.id).toBe("19950");
    expect(pages.at(500)).toBeUndefined();

    await scrolled(pages, 1000, 500, -25);
    expect(pages.at(500)?.id).toBe("500");
    expect(pages.held).toHaveLength(MOST_PAGES * PAGE_ROWS);
    pages.show(0, 20);
    expect(pages.at(0)?.id).toBe("0");
  });

  it("shows what is new to whoever looks at its top", () => {
    const [pages, service] = opened(150);
    service.jobs.unshift("new");
    pages.top(service.page(""));
    expect(pages.at(0)?.id).toBe("new");
    expect(pages.hasNews).toBe(false);
  });

  it("stays as it was under the eyes of whoever has scrolled, and renews its rows", async () => {
    const [pages, service] = opened(350);
    await scrolled(pages, 0, 250);
    service.jobs.unshift("new");
    const newer: JobPage = service.page("");
    pages.top({ ...newer, items: newer.items.map((job) => ({ ...job, message: "newer" })) });
    expect(pages.hasNews).toBe(true);
    expect(pages.at(0)).toMatchObject({ id: "0", message: "newer" });
    expect(pages.at(99)?.id).toBe("99");
    expect(pages.at(250)?.id).toBe("250");

    await scrolled(pages, 200, 0, -50);
    expect(pages.hasNews).toBe(false);
    expect(pages.at(0)?.id).toBe("new");
    await scrolled(pages, 0, 350);
    const ids = Array.from({ length: pages.rows }, (_, row) => pages.at(row)?.id);
    expect(ids).toEqual(service.jobs);
  });

  it("says that a page did not come, and has it when it is asked for again", async () => {
    const [pages, service] = opened(300);
    service.isAway = true;
    pages.show(90, 110);
    await heard();
    expect(pages.problem).toEqual(new Error("away"));
    pages.show(91, 111);
    await heard();
    expect(service.asked).toHaveLength(1);

    service.isAway = false;
    pages.renew(() => false);
    await heard();
    expect(pages.problem).toBeNull();
    expect(pages.at(110)?.id).toBe("110");
  });

  it("reads pages again on which something may change, and closes the gap of what left", async () => {
    const [pages, service] = opened(350);
    await scrolled(pages, 0, 250);
    service.asked = [];
    pages.show(160, 180);
    pages.renew(() => false);
    expect(service.asked).toEqual([]);
    service.jobs = service.jobs.filter((id) => id !== "150");
    pages.renew(() => true);
    await heard();
    expect(pages.at(150)?.id).toBe("151");
    await scrolled(pages, 160, 350);
    expect(pages.rows).toBe(349);
    expect(pages.at(200)?.id).toBe("201");
  });
});
