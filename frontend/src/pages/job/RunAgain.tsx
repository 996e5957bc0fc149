/** The same once more: a new job with the spec of one that has ended. */

import { useNavigate } from "react-router";

import { useRerun } from "../../api/jobs";
import type { JobDetail } from "../../api/types";
import { Question } from "../../design/Question";

export function RunAgain({ job }: { readonly job: JobDetail }) {
  const navigate = useNavigate();
  const call = useRerun(job.id);
  return (
    <Question
      button="Run again"
      title={`Run ${job.name} again?`}
      consequence="A new job with the same spec joins the queue. This one stays as it is."
      isDanger={false}
      call={call}
      onConfirm={(close) => {
        call.mutate(undefined, {
          onSuccess: (made) => {
            close();
            void navigate(`/jobs/${made.id}`);
          },
        });
      }}
    />
  );
}
