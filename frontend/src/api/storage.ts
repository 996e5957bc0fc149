/** How much does a team keep on disk? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";

export function useStorage(team: string) {
  return useQuery({
    queryKey: ["team", team, "storage"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/storage", { params: { path: { name: team } } })),
  });
}
