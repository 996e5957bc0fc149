/** What did the autoscaler do? Of now it is sent; what is over never changes, and is asked for once. */

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";

import type { TimeRange } from "../domain/timeRange";
import { client, unwrap } from "./client";
import type { Tick } from "./types";
import { LIVE_MILLISECONDS, readOf, useLiveQuery } from "./useLiveQuery";

const PAGE = 50;

const iso = (at: number) => new Date(at).toISOString();

/** The newest ticks, as they come. */
export function useNewestTicks(isLive: boolean) {
  return useLiveQuery(
    ["ticks"],
    readOf("/api/v1/ticks", { limit: PAGE }),
    () => unwrap(client.GET("/api/v1/ticks", { params: { query: { limit: PAGE } } })),
    isLive ? {} : { isLive, milliseconds: 60 * LIVE_MILLISECONDS },
  );
}

/** Those of a time that is over, a page at a time, the newest first. */
export function usePastTicks({ from, to, isLive }: TimeRange) {
  return useInfiniteQuery({
    queryKey: ["ticks", "past", from, to],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/api/v1/ticks", {
          params: {
            query: { since: iso(from), until: iso(to), limit: PAGE, cursor: pageParam },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor,
    staleTime: Infinity,
    enabled: !isLive,
  });
}

/** The last one that decided something at that moment, or before it; null: there is none. */
export async function tickUntil(at: number): Promise<Tick | null> {
  const query = { until: iso(at + 1), limit: 1 };
  const page = await unwrap(client.GET("/api/v1/ticks", { params: { query } }));
  return page.items[0] ?? null;
}

/** The next one; null: there is none. */
export async function tickAfter(at: number): Promise<Tick | null> {
  const query = { since: iso(at + 1), order: "oldest" as const, limit: 1 };
  const page = await unwrap(client.GET("/api/v1/ticks", { params: { query } }));
  return page.items[0] ?? null;
}

/** The tick that held at a moment, with all its jobs. */
export function useTickAt(at: number | null) {
  return useQuery({
    queryKey: ["ticks", "at", at],
    queryFn: async () => {
      const tick = at === null ? null : await tickUntil(at);
      if (tick === null) return null;
      const params = { path: { number: tick.id } };
      return unwrap(client.GET("/api/v1/ticks/{number}", { params }));
    },
    enabled: at !== null,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

/** What one more GPU was worth: of the last hour as it comes, or of a time that is over. */
export function usePrices(pool: string, { from, to, isLive }: TimeRange) {
  const live = useLiveQuery(
    ["prices"],
    readOf("/api/v1/cluster/prices", { pool }),
    () => unwrap(client.GET("/api/v1/cluster/prices", { params: { query: { pool } } })),
    isLive
      ? { milliseconds: 5 * LIVE_MILLISECONDS }
      : { isLive, milliseconds: 60 * LIVE_MILLISECONDS },
  );
  const past = useQuery({
    queryKey: ["prices", "past", pool, from, to],
    queryFn: () => {
      const query = { pool, since: iso(from), until: iso(to) };
      return unwrap(client.GET("/api/v1/cluster/prices", { params: { query } }));
    },
    enabled: !isLive,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
  return isLive ? live : past;
}
