/** Pause, resume, cancel: those that the job's state allows, each asked for once more. */

import { useState } from "react";

import { useJobAction } from "../../api/jobs";
import type { Job } from "../../api/types";
import { actionsFor, type JobAction } from "../../domain/states";
import { Question } from "../../design/Question";
import styles from "./JobActions.module.css";

interface Wording {
  readonly button: string;
  readonly title: (name: string) => string;
  readonly consequence: string;
}

const WORDING: Record<JobAction, Wording> = {
  pause: {
    button: "Pause",
    title: (name) => `Pause ${name}?`,
    consequence: "It saves a checkpoint, gives its GPUs back, and waits until somebody resumes it.",
  },
  resume: {
    button: "Resume",
    title: (name) => `Resume ${name}?`,
    consequence: "It joins the queue and continues from its checkpoint.",
  },
  cancel: {
    button: "Cancel job",
    title: (name) => `Cancel ${name} for good?`,
    consequence: "Its workers stop now. Logs, metrics and checkpoints stay; it cannot be resumed.",
  },
};

export function JobActions({ job }: { readonly job: Job }) {
  return (
    <>
      {actionsFor(job.state).map((action) => (
        <AskedAction key={action} job={job} action={action} />
      ))}
    </>
  );
}

function AskedAction({ job, action }: { readonly job: Job; readonly action: JobAction }) {
  const [reason, setReason] = useState("");
  const call = useJobAction(job.id);
  const wording = WORDING[action];
  return (
    <Question
      button={wording.button}
      title={wording.title(job.name)}
      consequence={wording.consequence}
      isDanger={action === "cancel"}
      call={call}
      onConfirm={(close) => {
        call.mutate({ action, reason: reason.trim() }, { onSuccess: close });
      }}
    >
      <label className={styles.field}>
        Reason (optional, shown in the job&apos;s events)
        <input
          value={reason}
          maxLength={200}
          onChange={(event) => {
            setReason(event.target.value);
          }}
        />
      </label>
    </Question>
  );
}
