/** Which sweeps are there, and how do their trials go? */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { useChange } from "./useChange";
import { useEventPace } from "./useEventPace";

const PART = ["sweeps"];
const LIVE_MILLISECONDS = 4000; // trials are compared every three seconds
const LIST_MILLISECONDS = 10_000;
const PAGE = 50;

/** The newest first, a page at a time. */
export function useSweeps() {
  return useInfiniteQuery({
    queryKey: [...PART, "list"],
    queryFn: ({ pageParam }) =>
      unwrap(
        client.GET("/api/v1/sweeps", { params: { query: { limit: PAGE, cursor: pageParam } } }),
      ),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: useEventPace(LIST_MILLISECONDS),
  });
}

/** Asked again and again until it has ended. */
export function useSweep(id: string) {
  return useQuery({
    queryKey: [...PART, id],
    queryFn: () =>
      unwrap(client.GET("/api/v1/sweeps/{sweep_id}", { params: { path: { sweep_id: id } } })),
    refetchInterval: ({ state }) => (state.data?.ended_at === null ? LIVE_MILLISECONDS : false),
  });
}

/** The metric of its trials over their training; once it has ended, they change no more. */
export function useSweepCurves(id: string, hasEnded: boolean) {
  return useQuery({
    queryKey: [...PART, id, "curves", hasEnded],
    queryFn: () =>
      unwrap(
        client.GET("/api/v1/sweeps/{sweep_id}/curves", { params: { path: { sweep_id: id } } }),
      ),
    placeholderData: (before) => before,
    refetchInterval: hasEnded ? false : LIST_MILLISECONDS,
  });
}

export function useCancelSweep(id: string) {
  return useChange(PART, () =>
    unwrap(
      client.POST("/api/v1/sweeps/{sweep_id}/cancel", {
        params: { path: { sweep_id: id } },
        body: { reason: "" },
      }),
    ),
  );
}
