/** How is one thing asked of one job among many? */

import type { BulkAction } from "../domain/bulk";
import { client, unwrap } from "./client";
import { steer } from "./jobs";
import type { Job } from "./types";

/** `text` is the reason; of a label, `NAME=VALUE`. All of it may be asked twice. */
export function askedOfOne(action: BulkAction, text: string): (job: Job) => Promise<unknown> {
  if (action !== "label") return ({ id }) => unwrap(steer(id, action, text));
  const [name = "", ...value] = text.split("=");
  return ({ id }) =>
    unwrap(
      client.PATCH("/api/v1/jobs/{job_id}", {
        params: { path: { job_id: id } },
        body: { labels: { [name.trim()]: value.join("=").trim() } },
      }),
    );
}
