/** With which settings does the installation run, and how does somebody change their password? */

import { useMutation, useQuery } from "@tanstack/react-query";

import { client, unwrap } from "./client";
import type { PasswordChange } from "./types";

/** What an admin reads; nobody else is answered. */
export function useInstallationSettings(isAdmin: boolean) {
  return useQuery({
    queryKey: ["settings"],
    queryFn: () => unwrap(client.GET("/api/v1/settings")),
    enabled: isAdmin,
    staleTime: Infinity, // they change when the service is started anew
  });
}

export function useChangePassword() {
  return useMutation({
    mutationFn: (body: PasswordChange) => unwrap(client.POST("/api/v1/session/password", { body })),
  });
}
