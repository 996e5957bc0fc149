/** Which tokens does whoever is signed in have? */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import { PEOPLES_MILLISECONDS } from "./teams";
import type { PersonalTokenWish } from "./types";

const KEY = ["personal-tokens"];

export function usePersonalTokens() {
  return useQuery({
    queryKey: KEY,
    queryFn: () => unwrap(client.GET("/api/v1/personal-tokens")),
    refetchInterval: PEOPLES_MILLISECONDS,
  });
}

function useChange<Wish, Answer>(change: (wish: Wish) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    gcTime: 0, // a key that was made is forgotten with what shows it
    onSuccess: () => queries.invalidateQueries({ queryKey: KEY }),
  });
}

export function useMakePersonalToken() {
  return useChange((body: PersonalTokenWish) =>
    unwrap(client.POST("/api/v1/personal-tokens", { body })),
  );
}

export function useRevokePersonalToken(token: number) {
  return useChange(() =>
    unwrap(client.DELETE("/api/v1/personal-tokens/{token}", { params: { path: { token } } })),
  );
}
