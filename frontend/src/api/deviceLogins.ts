/** What does a command line ask for, and what does whoever is signed in say to it? */

import { useMutation } from "@tanstack/react-query";

import { TOKENS_KEY } from "./account";
import { client, unwrap } from "./client";
import { useChange } from "./useChange";

export function useLookUp() {
  return useMutation({
    mutationFn: (user_code: string) =>
      unwrap(client.POST("/api/v1/device-logins:look-up", { body: { user_code } })),
    gcTime: 0, // a code is forgotten with the page
  });
}

export function useConfirm(user_code: string) {
  return useChange(TOKENS_KEY, () =>
    unwrap(client.POST("/api/v1/device-logins:confirm", { body: { user_code } })),
  );
}

export function useRefuse(user_code: string) {
  return useChange(TOKENS_KEY, () =>
    unwrap(client.POST("/api/v1/device-logins:refuse", { body: { user_code } })),
  );
}
