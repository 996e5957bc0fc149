/** From which commit the job's code came, and the code itself to take home. */

import type { JobDetail } from "../../api/types";
import { codeOrigin } from "../../domain/code";

export function CodeOrigin({ job }: { readonly job: JobDetail }) {
  const origin = codeOrigin(job.resolved_spec);
  if (origin === null) return null;
  return (
    <a
      href={`/api/v1/jobs/${job.id}/code`}
      title={origin.diff === "" ? "Download the code of this job" : origin.diff.slice(0, 2000)}
      download
    >
      code {origin.label}
    </a>
  );
}
