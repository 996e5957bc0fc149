/** How does a part of a page read what the service sends by itself? Asked for at first, then sent. */

import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";

import { connection } from "./connection";
import { LiveReads } from "./liveReads";
import { useEventPace } from "./useEventPace";

/** How often is asked for what is not sent: by an older service, or while it is away. */
export const LIVE_MILLISECONDS = 2000;

const live = new LiveReads(() => {
  connection.reportAnswer(200);
});

/** Whether the service sends what this is the key of by itself. */
export function isSent(key: readonly unknown[]): boolean {
  const read = key.at(-1);
  return typeof read === "string" && live.isPushed(read);
}

type Parameter = string | number | readonly string[] | undefined;

/** The address of a read; what is undefined is left out, and each of several values told apart. */
export function readOf(path: string, parameters: Readonly<Record<string, Parameter>> = {}): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, String(one)]),
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

interface LiveOptions {
  /** How often it is asked for while it is not sent. */
  readonly milliseconds?: number;
  /** Whether the service is to send it; what changes no more, or by events, is asked for. */
  readonly isLive?: boolean;
  /** Whether what another read answered is shown until this one has. */
  readonly keepsPrevious?: boolean;
}

/** A query that is not asked again while the service sends its answers. */
export function useLiveQuery<Data>(
  key: readonly unknown[],
  read: string,
  ask: () => Promise<Data>,
  { milliseconds = LIVE_MILLISECONDS, isLive = true, keepsPrevious = true }: LiveOptions = {},
) {
  const queries = useQueryClient();
  const queryKey = [...key, read];
  const name = JSON.stringify(queryKey); // which says the same at each drawing, and is one value
  useEffect(
    () =>
      isLive
        ? live.watch(read, (body) => queries.setQueryData(JSON.parse(name) as unknown[], body))
        : undefined,
    [queries, name, read, isLive],
  );
  const wasLive = useRef(isLive);
  useEffect(() => {
    // What was the last of it may not have been sent any more.
    if (wasLive.current && !isLive) {
      void queries.invalidateQueries({ queryKey: JSON.parse(name) as unknown[] });
    }
    wasLive.current = isLive;
  }, [queries, name, isLive]);
  const pace = useEventPace(milliseconds);
  const isPushed = useSyncExternalStore(live.subscribe, () => live.isPushed(read)) && isLive;
  return useQuery({
    queryKey,
    queryFn: ask,
    refetchInterval: isPushed ? false : isLive ? milliseconds : pace,
    staleTime: isPushed ? Infinity : 0,
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}
