/** What happens in the whole cluster? Live: sent by the service, or asked again every two seconds. */

import { client, unwrap } from "./client";
import { LIVE_MILLISECONDS, readOf, useLiveQuery } from "./useLiveQuery";

/** Every team's standing, in one pool or summed over all. */
export function useTeams(pool?: string) {
  return useLiveQuery(["teams"], readOf("/api/v1/teams", { pool }), () =>
    unwrap(client.GET("/api/v1/teams", { params: { query: inPool(pool) } })),
  );
}

export function usePools() {
  return useLiveQuery(["pools"], readOf("/api/v1/pools"), () =>
    unwrap(client.GET("/api/v1/pools")),
  );
}

/** How busy the GPUs are, of jobs that the reader sees. */
export function useGpuUse() {
  return useLiveQuery(
    ["gpu-use"],
    readOf("/api/v1/cluster/gpus"),
    () => unwrap(client.GET("/api/v1/cluster/gpus")),
    { milliseconds: 5 * LIVE_MILLISECONDS },
  );
}

/** Whether plans are applied; asked less often, for it concerns nobody for hours. */
export function useHealth() {
  return useLiveQuery(
    ["health"],
    readOf("/api/v1/health"),
    () => unwrap(client.GET("/api/v1/health")),
    { milliseconds: 5 * LIVE_MILLISECONDS },
  );
}

export function useUtilisation(pool: string | undefined, minutes: number) {
  return useLiveQuery(
    ["utilisation"],
    readOf("/api/v1/cluster/utilisation", { pool, minutes }),
    () =>
      unwrap(
        client.GET("/api/v1/cluster/utilisation", {
          params: { query: { ...inPool(pool), minutes } },
        }),
      ),
  );
}

export function useSummary(hours: number) {
  return useLiveQuery(["summary"], readOf("/api/v1/cluster/summary", { hours }), () =>
    unwrap(client.GET("/api/v1/cluster/summary", { params: { query: { hours } } })),
  );
}

function inPool(pool: string | undefined): { pool?: string } {
  return pool === undefined ? {} : { pool };
}
