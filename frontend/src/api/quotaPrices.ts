/** What is each GPU of a team's guarantee worth to it? The past is replayed, which takes a while. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { isLive } from "./quotas";

const POLL_MILLISECONDS = 1000;

export interface PriceWish {
  readonly team: string;
  readonly pool: string;
  readonly days: number;
}

export function useAskPrice() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: PriceWish) => unwrap(client.POST("/api/v1/quota-prices", { body })),
    onSuccess: (made) => {
      queries.setQueryData(["quota price", made.id], made);
    },
  });
}

/** Asked each second until it has ended. */
export function usePrice(id: string) {
  return useQuery({
    queryKey: ["quota price", id],
    queryFn: () =>
      unwrap(client.GET("/api/v1/quota-prices/{price_id}", { params: { path: { price_id: id } } })),
    enabled: id !== "",
    refetchInterval: ({ state }) => (isLive(state.data) ? POLL_MILLISECONDS : false),
  });
}

export function useCancelPrice(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      unwrap(
        client.POST("/api/v1/quota-prices/{price_id}/cancel", {
          params: { path: { price_id: id } },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ["quota price", id] }),
  });
}
