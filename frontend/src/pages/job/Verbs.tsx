/** Pause, resume, cancel: those that the job's state allows, each asked for once more. */

import { useState } from "react";

import { useJobVerb } from "../../api/jobs";
import type { Job } from "../../api/types";
import { verbsFor, type Verb } from "../../domain/states";
import { Question } from "./Question";
import styles from "./Verbs.module.css";

interface Wording {
  readonly button: string;
  readonly title: (name: string) => string;
  readonly consequence: string;
}

const WORDING: Record<Verb, Wording> = {
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

export function Verbs({ job }: { readonly job: Job }) {
  return (
    <>
      {verbsFor(job.state).map((verb) => (
        <AskedVerb key={verb} job={job} verb={verb} />
      ))}
    </>
  );
}

function AskedVerb({ job, verb }: { readonly job: Job; readonly verb: Verb }) {
  const [reason, setReason] = useState("");
  const call = useJobVerb(job.id);
  const wording = WORDING[verb];
  return (
    <Question
      button={wording.button}
      title={wording.title(job.name)}
      consequence={wording.consequence}
      isDanger={verb === "cancel"}
      call={call}
      onConfirm={(close) => {
        call.mutate({ verb, reason: reason.trim() }, { onSuccess: close });
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
