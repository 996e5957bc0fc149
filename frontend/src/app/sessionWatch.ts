/** When does a session end by itself? When an answer says 401, or another window somebody else. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { isUnauthenticated } from "../api/errors";
import { watchPerson } from "../api/person";
import { SESSION_KEY } from "../api/session";

export function useSessionWatch(name: string): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      watchPerson(name, () => {
        window.location.reload(); // nothing stays of what was shown to whoever was here before
      }),
    [name],
  );
  useEffect(
    () =>
      queries.getQueryCache().subscribe((event) => {
        if (event.type !== "updated" || event.action.type !== "error") return;
        if (isUnauthenticated(event.action.error)) queries.setQueryData(SESSION_KEY, null);
      }),
    [queries],
  );
}
