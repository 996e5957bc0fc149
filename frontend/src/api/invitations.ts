/** Who is invited into a team, and what does an invitation bring? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { SESSION_KEY } from "./session";
import { PEOPLES_MILLISECONDS } from "./teams";
import type { RoleName } from "./types";
import { useChange } from "./useChange";

function keyOf(team: string) {
  return ["team", team, "invitations"];
}

export function useInvitations(team: string) {
  const path = { params: { path: { name: team } } };
  return useQuery({
    queryKey: keyOf(team),
    queryFn: () => unwrap(client.GET("/api/v1/teams/{name}/invitations", path)),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

export function useInvite(team: string) {
  return useChange(keyOf(team), (body: { role: RoleName; mail?: string }) =>
    unwrap(
      client.POST("/api/v1/teams/{name}/invitations", { params: { path: { name: team } }, body }),
    ),
  );
}

export function useRevokeInvitation(team: string, invitation: number) {
  return useChange(keyOf(team), () =>
    unwrap(
      client.DELETE("/api/v1/teams/{name}/invitations/{invitation}", {
        params: { path: { name: team, invitation } },
      }),
    ),
  );
}

/** What the key of an invitation is to; nobody needs to be signed in. */
export function useOpenInvitation(key: string) {
  return useQuery({
    queryKey: ["invitation", key],
    queryFn: () => unwrap(client.POST("/api/v1/invitations:look-up", { body: { key } })),
    enabled: key !== "",
    retry: false,
    gcTime: 0, // a key is forgotten with the page
  });
}

export function useAccept(key: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(client.POST("/api/v1/invitations:accept", { body: { key } })),
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries(),
  });
}

export function useJoin(key: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (told: { username: string; password: string }) =>
      unwrap(client.POST("/api/v1/invitations:join", { body: { key, ...told } })),
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: SESSION_KEY }),
  });
}
