/** Which jobs are in the list that is looked at, and how many are there in all? */

import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";

import { client, unwrap } from "../../api/client";
import { JobPages, PAGE_ROWS, type JobPage } from "../../api/jobPages";
import type { Job } from "../../api/types";
import { useEventPace } from "../../api/useEventPace";
import { readOf, useLiveQuery } from "../../api/useLiveQuery";
import type { JobQuery } from "../../domain/jobFilter";
import { isFinal } from "../../domain/states";

/** Rows below the first page may change while they live; counts are a matter of course. */
const RENEWED_MILLISECONDS = 10_000;
const COUNTED_MILLISECONDS = 30_000;

export interface OpenedList {
  readonly key: string;
  readonly pages: JobPages;
  scrolled: number; // pixels
}

/** The last list, for who comes back from one of its jobs. */
let last: OpenedList | null = null;

function opened(queries: QueryClient, query: JobQuery): OpenedList {
  const key = JSON.stringify(query);
  if (last?.key !== key) {
    last = { key, pages: new JobPages((cursor) => readPage(queries, query, cursor)), scrolled: 0 };
  }
  return last;
}

export function useJobList(query: JobQuery) {
  const queries = useQueryClient();
  const list = useMemo(() => opened(queries, query), [queries, query]);
  const { pages } = list;
  const head = useLiveQuery(
    ["jobs"],
    readOf("/api/v1/jobs", { ...query, limit: PAGE_ROWS }),
    () => unwrap(client.GET("/api/v1/jobs", { params: { query: { ...query, limit: PAGE_ROWS } } })),
    { keepsPrevious: false },
  );
  const top = head.data;
  useEffect(() => {
    if (top !== undefined) pages.top(top);
  }, [pages, top]);
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (!document.hidden) pages.renew(isLive);
    }, RENEWED_MILLISECONDS);
    return () => {
      window.clearInterval(timer);
    };
  }, [pages]);
  useSyncExternalStore(pages.subscribe, pages.version);
  return { list, head };
}

function isLive({ state }: Job): boolean {
  return !isFinal(state);
}

/** How many such jobs there are; undefined: not known yet. */
export function useJobCount(query: JobQuery): number | undefined {
  const count = useQuery({
    queryKey: ["jobs", "count", query],
    queryFn: () =>
      unwrap(
        client.GET("/api/v1/jobs", { params: { query: { ...query, limit: 1, count: true } } }),
      ),
    refetchInterval: useEventPace(COUNTED_MILLISECONDS),
  });
  return count.data?.total ?? undefined;
}

/** A page of the list, through the cache of queries, so that the end of a session is heard. */
export function readPage(
  queries: QueryClient,
  query: JobQuery,
  cursor: string,
  limit = PAGE_ROWS,
): Promise<JobPage> {
  return queries.query({
    queryKey: ["jobs", "page", query, cursor, limit],
    queryFn: () =>
      unwrap(client.GET("/api/v1/jobs", { params: { query: { ...query, cursor, limit } } })),
    staleTime: 0,
    gcTime: 0,
  });
}

/** The first so many jobs of the list, read in pages as large as the service gives. */
export async function readFirst(
  queries: QueryClient,
  query: JobQuery,
  most: number,
): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (let cursor: string | null = ""; cursor !== null && jobs.length < most;) {
    const page: JobPage = await readPage(queries, query, cursor, Math.min(200, most - jobs.length));
    jobs.push(...page.items);
    cursor = page.next_cursor;
  }
  return jobs;
}
