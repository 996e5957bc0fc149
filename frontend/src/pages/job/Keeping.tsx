/** How long is a job kept? Pinned for ever, else until it is old or somebody deletes it. */

import { useNavigate } from "react-router";

import { useDeleteJob, usePin } from "../../api/jobs";
import { useRemovals } from "../../api/results";
import type { JobDetail } from "../../api/types";
import { plural } from "../../domain/format";
import { describeRemovals } from "../../domain/keeping";
import { isDeletable } from "../../domain/states";
import { Question } from "../../design/Question";

export function Keeping({ job }: { readonly job: JobDetail }) {
  return (
    <>
      <Pin key={String(job.is_pinned)} job={job} />
      {isDeletable(job) && <Delete job={job} />}
    </>
  );
}

function Pin({ job }: { readonly job: JobDetail }) {
  const call = usePin(job.id);
  const verb = job.is_pinned ? "Unpin" : "Pin";
  return (
    <Question
      button={verb}
      title={`${verb} ${job.name}?`}
      consequence={
        job.is_pinned
          ? "From now on its logs, its checkpoints and at last the job itself are removed when they" +
            " are old enough. What is already older goes within minutes, and nobody can bring it" +
            " back."
          : "Of a pinned job nothing is removed because it is old: neither its logs, checkpoints" +
            " and curves nor the job itself. Nothing is lost by it; it keeps its place on the disk."
      }
      isDanger={false}
      call={call}
      onConfirm={(close) => {
        call.mutate(!job.is_pinned, { onSuccess: close });
      }}
    >
      <Removals id={job.id} />
    </Question>
  );
}

/** What goes when, as things are. */
function Removals({ id }: { readonly id: string }) {
  const removals = useRemovals(id);
  const said = describeRemovals(removals.data?.items ?? []);
  return (
    said.length > 0 && (
      <ul>
        {said.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    )
  );
}

function Delete({ job }: { readonly job: JobDetail }) {
  const navigate = useNavigate();
  const call = useDeleteJob(job.id);
  const ofSteps = job.step > 0 ? ` of ${plural(job.step, "step")}` : "";
  return (
    <Question
      button="Delete job"
      title={`Delete ${job.name} for ever?`}
      consequence={
        `Lost for good: its checkpoints and files, its logs, its curves${ofSteps}, its events` +
        " and its spec. Only the GPU time that it used stays in the sums."
      }
      isDanger
      call={call}
      onConfirm={() => {
        call.mutate(undefined, { onSuccess: () => void navigate("/", { replace: true }) });
      }}
    />
  );
}
