/** Does the job's range of batches reach further than its gradient noise supports? */

import type { JobDetail } from "../api/types";

/** What to say of it; nothing while the range is supported, or no noise was measured. */
export function rangeWarnings({
  batch_worth: worth,
}: Pick<JobDetail, "batch_worth">): readonly string[] {
  return worth?.reaches_too_far ? [worth.message] : [];
}
