/** What happens in the whole cluster? Live: asked again every two seconds. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";

export const LIVE_MILLISECONDS = 2000;

/** Every team's standing, in one pool or summed over all. */
export function useTeams(pool?: string) {
  return useQuery({
    queryKey: ["teams", pool],
    queryFn: () => unwrap(client.GET("/api/v1/teams", { params: { query: inPool(pool) } })),
    refetchInterval: LIVE_MILLISECONDS,
  });
}

export function usePools() {
  return useQuery({
    queryKey: ["pools"],
    queryFn: () => unwrap(client.GET("/api/v1/pools")),
    refetchInterval: LIVE_MILLISECONDS,
  });
}

/** Whether plans are applied; asked less often, for it concerns nobody for hours. */
export function useHealth() {
  return useQuery({
    queryKey: ["health"],
    queryFn: () => unwrap(client.GET("/api/v1/health")),
    refetchInterval: 5 * LIVE_MILLISECONDS,
  });
}

export function useUtilisation(pool: string | undefined, minutes: number) {
  return useQuery({
    queryKey: ["utilisation", pool, minutes],
    queryFn: () =>
      unwrap(
        client.GET("/api/v1/cluster/utilisation", {
          params: { query: { ...inPool(pool), minutes } },
        }),
      ),
    refetchInterval: LIVE_MILLISECONDS,
    placeholderData: keepPreviousData,
  });
}

export function useSummary(hours: number) {
  return useQuery({
    queryKey: ["summary", hours],
    queryFn: () => unwrap(client.GET("/api/v1/cluster/summary", { params: { query: { hours } } })),
    refetchInterval: LIVE_MILLISECONDS,
    placeholderData: keepPreviousData,
  });
}

function inPool(pool: string | undefined): { pool?: string } {
  return pool === undefined ? {} : { pool };
}
