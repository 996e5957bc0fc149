/** For how long does a team keep what its jobs leave behind? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { KeptPart, RetentionChanges } from "./types";
import { useChange } from "./useChange";

export function useRetention(team: string) {
  return useQuery({
    queryKey: ["team", team, "retention"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/retention", { params: { path: { name: team } } })),
  });
}

export function useChangeRetention(team: string) {
  return useChange(
    ["team", team, "retention"],
    ({ part, changes }: { part: KeptPart["part"]; changes: RetentionChanges }) =>
      unwrap(
        client.PATCH("/api/v1/teams/{name}/retention/{part}", {
          params: { path: { name: team, part } },
          body: changes,
        }),
      ),
  );
}
