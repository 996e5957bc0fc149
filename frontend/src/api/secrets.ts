/** Which secrets and images may a team's jobs use? Values go out and never come in. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { SecretContent } from "./types";

import { PEOPLES_MILLISECONDS } from "./teams";

export function useSecrets(team: string) {
  return useQuery({
    queryKey: ["team", team, "secrets"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/secrets", { params: { path: { name: team } } })),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

export function useTeamImages(team: string) {
  return useQuery({
    queryKey: ["team", team, "images"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/images", { params: { path: { name: team } } })),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

export function useSetSecret(team: string) {
  const queries = useQueryClient();
  return useMutation({
    gcTime: 0, // what was typed is forgotten with the form
    mutationFn: ({ secret, body }: { secret: string; body: SecretContent }) =>
      unwrap(
        client.PUT("/api/v1/teams/{name}/secrets/{secret}", {
          params: { path: { name: team, secret } },
          body,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["team", team, "secrets"] }),
  });
}

export function useDeleteSecret(team: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ secret, force }: { secret: string; force: boolean }) =>
      unwrap(
        client.DELETE("/api/v1/teams/{name}/secrets/{secret}", {
          params: { path: { name: team, secret }, query: { force } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["team", team, "secrets"] }),
  });
}
