/** For how long does a team keep what its jobs leave behind? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { KeptPart, RetentionChanges } from "./types";

export function useRetention(team: string) {
  return useQuery({
    queryKey: ["team", team, "retention"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/retention", { params: { path: { name: team } } })),
  });
}

export function useChangeRetention(team: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ part, changes }: { part: KeptPart["part"]; changes: RetentionChanges }) =>
      unwrap(
        client.PATCH("/api/v1/teams/{name}/retention/{part}", {
          params: { path: { name: team, part } },
          body: changes,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["team", team, "retention"] }),
  });
}
