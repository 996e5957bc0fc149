/** What does a team have submitted again and again, and how did that go? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { PEOPLES_MILLISECONDS } from "./teams";
import { useChange } from "./useChange";
import { useEventPace } from "./useEventPace";

/** What is due is submitted within ten seconds or so; a team without any has nothing to wait for. */
const LIST_MILLISECONDS = 10_000;

export function useSchedules(team: string) {
  const pace = useEventPace(LIST_MILLISECONDS);
  return useQuery({
    queryKey: partOf(team),
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/schedules", { params: { path: { name: team } } })),
    refetchInterval: ({ state }) => (state.data?.items.length === 0 ? PEOPLES_MILLISECONDS : pace),
  });
}

export function usePauseSchedule(team: string, schedule: string) {
  return useChange(partOf(team), () =>
    unwrap(
      client.POST("/api/v1/teams/{name}/schedules/{schedule}/pause", {
        params: { path: { name: team, schedule } },
        body: { reason: "" },
      }),
    ),
  );
}

export function useResumeSchedule(team: string, schedule: string) {
  return useChange(partOf(team), () =>
    unwrap(
      client.POST("/api/v1/teams/{name}/schedules/{schedule}/resume", {
        params: { path: { name: team, schedule } },
      }),
    ),
  );
}

/** Submit it now; repeated with the same key, it is once. */
export function useRunSchedule(team: string, schedule: string) {
  return useChange(partOf(team), (key: string) =>
    unwrap(
      client.POST("/api/v1/teams/{name}/schedules/{schedule}/run", {
        params: { path: { name: team, schedule }, header: { "Idempotency-Key": key } },
      }),
    ),
  );
}

function partOf(team: string): string[] {
  return ["team", team, "schedules"];
}
