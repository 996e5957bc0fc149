/** How does a part of a page read what the service sends by itself? Asked for at first, then sent. */

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

import { connection } from "./connection";
import { LiveReads } from "./liveReads";

/** How often is asked for what is not sent: by an older service, or while it is away. */
export const LIVE_MILLISECONDS = 2000;

const live = new LiveReads(() => {
  connection.reportAnswer(200);
});

/** The address of a read; what is undefined is left out. */
export function readOf(
  path: string,
  parameters: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

/** A query that is not asked again while the service sends its answers. */
export function useLiveQuery<Data>(
  name: string,
  read: string,
  ask: () => Promise<Data>,
  milliseconds: number = LIVE_MILLISECONDS,
) {
  const queries = useQueryClient();
  useEffect(
    () => live.watch(read, (body) => queries.setQueryData([name, read], body)),
    [queries, name, read],
  );
  const isPushed = useSyncExternalStore(live.subscribe, () => live.isPushed(read));
  return useQuery({
    queryKey: [name, read],
    queryFn: ask,
    refetchInterval: isPushed ? false : milliseconds,
    staleTime: isPushed ? Infinity : 0,
    placeholderData: keepPreviousData,
  });
}
