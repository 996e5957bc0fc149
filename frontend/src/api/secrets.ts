/** Which secrets and images may a team's jobs use? Values go out and never come in. */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { SecretContent } from "./types";
import { useChange } from "./useChange";

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
  return useChange(
    ["team", team, "secrets"],
    ({ secret, body }: { secret: string; body: SecretContent }) =>
      unwrap(
        client.PUT("/api/v1/teams/{name}/secrets/{secret}", {
          params: { path: { name: team, secret } },
          body,
        }),
      ),
  );
}

export function useDeleteSecret(team: string) {
  return useChange(
    ["team", team, "secrets"],
    ({ secret, force }: { secret: string; force: boolean }) =>
      unwrap(
        client.DELETE("/api/v1/teams/{name}/secrets/{secret}", {
          params: { path: { name: team, secret }, query: { force } },
        }),
      ),
  );
}
