/** Who is in a team, what may each do there, and which keys do its programs have? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { RoleName, TeamChanges, TokenRotation, TokenWish } from "./types";

/** People change these, not the cluster; whoever comes back to the window asks at once. */
export const PEOPLES_MILLISECONDS = 60_000;

/** A team with its settings, as its people may see them. */
export function useTeam(team: string) {
  return useQuery({
    queryKey: ["team", team, "settings"],
    queryFn: () => unwrap(client.GET("/api/v1/teams/{name}", { params: { path: { name: team } } })),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

/** Who has which role in it, and what its reader may do there. */
export function useMembers(team: string) {
  return useQuery({
    queryKey: ["team", team, "members"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/members", { params: { path: { name: team } } })),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

/** Something that is changed of a team, after which this part of it is read anew. */
function useChange<Wish, Answer>(
  team: string,
  part: "members" | "tokens" | "settings",
  change: (wish: Wish) => Promise<Answer>,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    gcTime: 0, // a key that was made is forgotten with what shows it
    onSuccess: () => queries.invalidateQueries({ queryKey: ["team", team, part] }),
  });
}

export function useAddMember(team: string) {
  return useChange(team, "members", (body: { name: string; role: RoleName }) =>
    unwrap(client.POST("/api/v1/teams/{name}/members", { params: { path: { name: team } }, body })),
  );
}

export function useChangeMember(team: string, member: string) {
  return useChange(team, "members", (role: RoleName) =>
    unwrap(
      client.PATCH("/api/v1/teams/{name}/members/{member}", {
        params: { path: { name: team, member } },
        body: { role },
      }),
    ),
  );
}

export function useRemoveMember(team: string, member: string) {
  return useChange(team, "members", () =>
    unwrap(
      client.DELETE("/api/v1/teams/{name}/members/{member}", {
        params: { path: { name: team, member } },
      }),
    ),
  );
}

/** Say whether its members change each other's jobs. */
export function useShareJobs(team: string) {
  return useChange(team, "settings", (isShared: boolean) =>
    unwrap(
      client.PATCH("/api/v1/teams/{name}", {
        params: { path: { name: team } },
        body: { members_change_all_jobs: isShared },
      }),
    ),
  );
}

/** Change its limits, and its budget. */
export function useChangeLimits(team: string) {
  return useChange(team, "settings", (body: TeamChanges) =>
    unwrap(client.PATCH("/api/v1/teams/{name}", { params: { path: { name: team } }, body })),
  );
}

export function useTokens(team: string, mayManage: boolean) {
  return useQuery({
    queryKey: ["team", team, "tokens"],
    queryFn: () =>
      unwrap(client.GET("/api/v1/teams/{name}/tokens", { params: { path: { name: team } } })),
    enabled: mayManage, // others would be refused
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

export function useMakeToken(team: string) {
  return useChange(team, "tokens", (body: TokenWish) =>
    unwrap(client.POST("/api/v1/teams/{name}/tokens", { params: { path: { name: team } }, body })),
  );
}

export function useRotateToken(team: string, token: number) {
  return useChange(team, "tokens", (body: TokenRotation) =>
    unwrap(
      client.POST("/api/v1/teams/{name}/tokens/{token}/rotate", {
        params: { path: { name: team, token } },
        body,
      }),
    ),
  );
}

export function useRevokeToken(team: string, token: number) {
  return useChange(team, "tokens", () =>
    unwrap(
      client.DELETE("/api/v1/teams/{name}/tokens/{token}", {
        params: { path: { name: team, token } },
      }),
    ),
  );
}
