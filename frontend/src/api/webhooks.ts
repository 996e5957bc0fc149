/** Who is told of what happens to jobs, and how did that go? */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { WebhookChanges, WebhookWish } from "./types";
import { useChange } from "./useChange";

const PART = ["webhooks"];
const PAGE = 20;
/** Whether a call failed is to be seen without asking, but nobody waits for it. */
const LIST_MILLISECONDS = 10_000;
/** While deliveries are looked at, one that was just asked for is soon seen to come through. */
const DELIVERY_MILLISECONDS = 3000;

/** Those of a team; null: of the installation. */
export function useWebhooks(team: string | null, mayManage: boolean) {
  return useQuery({
    queryKey: [...PART, team],
    queryFn: async () => {
      const query = team === null ? {} : { team };
      const { items } = await unwrap(client.GET("/api/v1/webhooks", { params: { query } }));
      return items.filter((one) => (one.team ?? null) === team);
    },
    enabled: mayManage, // others would be refused
    refetchInterval: LIST_MILLISECONDS,
  });
}

export function useAddWebhook() {
  return useChange(PART, (body: WebhookWish) => unwrap(client.POST("/api/v1/webhooks", { body })));
}

export function useChangeWebhook(webhook: number) {
  return useChange(PART, (body: WebhookChanges) =>
    unwrap(client.PATCH("/api/v1/webhooks/{webhook}", { params: { path: { webhook } }, body })),
  );
}

export function useDeleteWebhook(webhook: number) {
  return useChange(PART, () =>
    unwrap(client.DELETE("/api/v1/webhooks/{webhook}", { params: { path: { webhook } } })),
  );
}

export function useTestWebhook(webhook: number) {
  return useChange(PART, () =>
    unwrap(client.POST("/api/v1/webhooks/{webhook}/test", { params: { path: { webhook } } })),
  );
}

/** What it was sent, the newest first. */
export function useDeliveries(webhook: number) {
  return useInfiniteQuery({
    queryKey: [...PART, "deliveries", String(webhook)],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/api/v1/webhooks/{webhook}/deliveries", {
          params: {
            path: { webhook },
            query: { limit: PAGE, ...(pageParam !== "" && { before: pageParam }) },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: ({ items, has_more }) => (has_more ? items.at(-1)?.id : undefined),
    refetchInterval: ({ state }) => DELIVERY_MILLISECONDS * (state.data?.pages.length ?? 1), // as all pages are read anew
  });
}

export function useReplayDelivery(webhook: number, delivery: string) {
  return useChange([...PART, "deliveries", String(webhook)], () =>
    unwrap(
      client.POST("/api/v1/webhooks/{webhook}/deliveries/{delivery}/replay", {
        params: { path: { webhook, delivery } },
      }),
    ),
  );
}
