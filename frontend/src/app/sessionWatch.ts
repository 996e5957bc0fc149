/** When does a session end by itself? When any answer says 401: then the login page shows. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { isUnauthenticated } from "../api/errors";
import { SESSION_KEY } from "../api/session";

export function useSessionWatch(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== "updated" || event.action.type !== "error") return;
        if (isUnauthenticated(event.action.error)) queries.setQueryData(SESSION_KEY, null);
      }),
    [queries],
  );
}
