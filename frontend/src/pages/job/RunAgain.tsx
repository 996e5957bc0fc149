/** The same once more: a new job with the spec of one that has ended. */

import { useNavigate } from "react-router";

import { useRerun } from "../../api/jobs";
import type { JobDetail, SizeAdvice } from "../../api/types";
import { Question } from "../../design/Question";

type SuggestedRange = NonNullable<SizeAdvice["suggested"]>;

interface RunAgainProps {
  readonly job: JobDetail;
  /** With another range of workers than it had. */
  readonly range?: Pick<
    SuggestedRange,
    "min_workers" | "max_workers" | "allowed_workers" | "requested_workers"
  >;
}

export function RunAgain({ job, range }: RunAgainProps) {
  const navigate = useNavigate();
  const call = useRerun(job.id);
  return (
    <Question
      button={range === undefined ? "Run again" : "Run again so"}
      title={`Run ${job.name} again?`}
      consequence={
        range === undefined
          ? "A new job with the same spec joins the queue. This one stays as it is."
          : `A new job with the same spec, but with ${String(range.min_workers)} to ${String(range.max_workers)} workers, joins the queue. This one stays as it is.`
      }
      isDanger={false}
      call={call}
      onConfirm={(close) => {
        call.mutate(range === undefined ? {} : { elastic: range }, {
          onSuccess: (made) => {
            close();
            void navigate(`/jobs/${made.id}`);
          },
        });
      }}
    />
  );
}
