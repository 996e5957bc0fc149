/** Which tokens does whoever is signed in have? */

import { useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { PEOPLES_MILLISECONDS } from "./teams";
import type { PersonalTokenWish } from "./types";
import { useChange } from "./useChange";

export const TOKENS_KEY = ["personal-tokens"];

export function usePersonalTokens() {
  return useQuery({
    queryKey: TOKENS_KEY,
    queryFn: () => unwrap(client.GET("/api/v1/personal-tokens")),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

export function useMakePersonalToken() {
  return useChange(TOKENS_KEY, (body: PersonalTokenWish) =>
    unwrap(client.POST("/api/v1/personal-tokens", { body })),
  );
}

export function useRevokePersonalToken(token: number) {
  return useChange(TOKENS_KEY, () =>
    unwrap(client.DELETE("/api/v1/personal-tokens/{token}", { params: { path: { token } } })),
  );
}
