/** Who is in a team, what may each do there, and which keys do its programs have? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { RoleName, TeamChanges, TokenRotation, TokenWish } from "./types";
import { useChange } from "./useChange";

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

export function useAddMember(team: string) {
  return useChange(["team", team, "members"], (body: { name: string; role: RoleName }) =>
    unwrap(client.POST("/api/v1/teams/{name}/members", { params: { path: { name: team } }, body })),
  );
}

export function useChangeMember(team: string, member: string) {
  return useChange(["team", team, "members"], (role: RoleName) =>
    unwrap(
      client.PATCH("/api/v1/teams/{name}/members/{member}", {
        params: { path: { name: team, member } },
        body: { role },
      }),
    ),
  );
}

export function useRemoveMember(team: string, member: string) {
  return useChange(["team", team, "members"], () =>
    unwrap(
      client.DELETE("/api/v1/teams/{name}/members/{member}", {
        params: { path: { name: team, member } },
      }),
    ),
  );
}

/** Say whether its members change each other's jobs. */
export function useShareJobs(team: string) {
  return useChange(["team", team, "settings"], (isShared: boolean) =>
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
  return useChange(["team", team, "settings"], (body: TeamChanges) =>
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
  return useChange(["team", team, "tokens"], (body: TokenWish) =>
    unwrap(client.POST("/api/v1/teams/{name}/tokens", { params: { path: { name: team } }, body })),
  );
}

export function useRotateToken(team: string, token: number) {
  return useChange(["team", team, "tokens"], (body: TokenRotation) =>
    unwrap(
      client.POST("/api/v1/teams/{name}/tokens/{token}/rotate", {
        params: { path: { name: team, token } },
        body,
      }),
    ),
  );
}

export function useRevokeToken(team: string, token: number) {
  return useChange(["team", team, "tokens"], () =>
    unwrap(
      client.DELETE("/api/v1/teams/{name}/tokens/{token}", {
        params: { path: { name: team, token } },
      }),
    ),
  );
}
