/** What is known about a few jobs side by side? All of it is one read. */

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";

import type { Wanted } from "../domain/comparison";
import { isFinal } from "../domain/states";
import { client, unwrap } from "./client";
import type { Comparison } from "./types";
import { LIVE_MILLISECONDS, readOf, useLiveQuery } from "./useLiveQuery";

const POINTS = 200; // of each curve
const LIVE = 5 * LIVE_MILLISECONDS; // as often as the service sends it
const SETTLED_MILLISECONDS = 60_000; // where all have ended

/** Asked for once; sent from then on, as long as one of the jobs may still change. */
export function useComparison(ids: readonly string[], { metric, measure }: Wanted) {
  const queries = useQueryClient();
  const query = {
    ...{ jobs: ids.join(","), points: POINTS },
    ...(metric !== "" && { metric }),
    ...(measure !== null && { measure }),
  };
  const read = readOf("/api/v1/jobs:compare", query);
  const known = queries.getQueryData<Comparison>(["comparison", read]);
  const isLive = known?.items.some(({ state }) => !isFinal(state)) ?? false;
  return useLiveQuery(
    ["comparison"],
    read,
    () => unwrap(client.GET("/api/v1/jobs:compare", { params: { query } })),
    { milliseconds: isLive ? LIVE : SETTLED_MILLISECONDS, isLive },
  );
}

const SUGGESTED = 8;

/**
 * Jobs whose name or label contains this, those that go on or ended last first. Until they are
 * there, those of the search before: nothing vanishes below the keys of whoever types on.
 */
export function useJobsLike(search: string) {
  const query = { search, limit: SUGGESTED, order: "recent" as const };
  return useQuery({
    queryKey: ["jobs", "like", search],
    queryFn: () => unwrap(client.GET("/api/v1/jobs", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}
