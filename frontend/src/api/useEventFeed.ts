/** How does a page learn what happened to jobs? It is told, and asks anew for what that concerns. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { concernedBy, isConcerned } from "../domain/concerned";
import { feed } from "./useEventPace";
import { isSent } from "./useLiveQuery";

/** Ask anew for what events concern, but not for what the service sends by itself. */
export function useEventFeed(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      feed.watch((events) => {
        const parts = concernedBy(events);
        void queries.invalidateQueries({
          predicate: ({ queryKey }) => isConcerned(queryKey, parts) && !isSent(queryKey),
        });
      }),
    [queries],
  );
}
