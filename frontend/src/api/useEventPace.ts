/** How often to ask for what events tell of? */

import { useSyncExternalStore } from "react";

import { EventFeed } from "./eventFeed";

/** At least, while events are told: a deleted job is told of by none. */
const SLOW_MILLISECONDS = 60_000;

export const feed = new EventFeed();

export function useEventPace(milliseconds: number): number {
  const isFollowed = useSyncExternalStore(feed.subscribe, feed.isFollowed);
  return isFollowed ? Math.max(milliseconds, SLOW_MILLISECONDS) : milliseconds;
}
