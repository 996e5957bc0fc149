/** Which tokens does whoever is signed in have? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { PEOPLES_MILLISECONDS } from "./teams";
import type { PersonalTokenWish } from "./types";
import { useChange } from "./useChange";

const KEY = ["personal-tokens"];

export function usePersonalTokens() {
  return useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(client.GET("/api/v1/personal-tokens")),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

export function useMakePersonalToken() {
  return useChange(KEY, (body: PersonalTokenWish) =>
    unwrap(client.POST("/api/v1/personal-tokens", { body })),
  );
}

export function useRevokePersonalToken(token: number) {
  return useChange(KEY, () =>
    unwrap(client.DELETE("/api/v1/personal-tokens/{token}", { params: { path: { token } } })),
  );
}
