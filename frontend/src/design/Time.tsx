/** A moment as people say it, with the exact time on hover. */

import { absoluteTime, milliseconds, relativeTime } from "../domain/time";
import { useNow } from "./now";

export function RelativeTime({ at }: { readonly at: string }) {
  const now = useNow();
  const moment = milliseconds(at);
  return (
    <time dateTime={at} title={absoluteTime(moment)}>
      {relativeTime(moment, now)}
    </time>
  );
}
