/** What was asked of the simulator, how far is it, and what came out? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { Simulation, SimulationWish } from "./types";
import { useChange } from "./useChange";

const PART = ["simulations"];
const POLL_MILLISECONDS = 1000;
const LIST_MILLISECONDS = 5000;

/** Their own; admins see everybody's. */
export function useSimulations() {
  return useQuery({
    queryKey: [...PART, "list"],
    queryFn: () => unwrap(client.GET("/api/v1/simulations")),
    refetchInterval: ({ state }) => (state.data?.items.some(isLive) ? LIST_MILLISECONDS : false),
  });
}

/** Asked each second until it has ended. */
export function useSimulation(id: string) {
  return useQuery({
    queryKey: [...PART, id],
    queryFn: () =>
      unwrap(
        client.GET("/api/v1/simulations/{simulation_id}", {
          params: { path: { simulation_id: id } },
        }),
      ),
    refetchInterval: ({ state }) => (isLive(state.data) ? POLL_MILLISECONDS : false),
  });
}

export function isLive(simulation: Pick<Simulation, "state"> | undefined): boolean {
  return simulation?.state === "queued" || simulation?.state === "running";
}

export function useAskSimulation() {
  return useChange(PART, (body: SimulationWish) =>
    unwrap(client.POST("/api/v1/simulations", { body })),
  );
}

export function useCancelSimulation(id: string) {
  return useChange(PART, () =>
    unwrap(
      client.POST("/api/v1/simulations/{simulation_id}/cancel", {
        params: { path: { simulation_id: id } },
      }),
    ),
  );
}

/** Those that can be simulated; they change with the installation only. */
export function usePolicies() {
  return useQuery({
    queryKey: ["policies"],
    queryFn: () => unwrap(client.GET("/api/v1/policies")),
    staleTime: Infinity,
  });
}

export function reportAddress(id: string): string {
  return `/api/v1/simulations/${id}/report`;
}
