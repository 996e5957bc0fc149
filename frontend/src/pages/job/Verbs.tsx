/** Pause, resume, cancel: those that the job's state allows, each asked for once more. */

import { useState, type SyntheticEvent } from "react";

import { messageOf } from "../../api/errors";
import { useJobVerb } from "../../api/jobs";
import type { Job } from "../../api/types";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { verbsFor, type Verb } from "../../domain/states";
import styles from "./Verbs.module.css";

interface Wording {
  readonly button: string;
  readonly question: (name: string) => string;
  readonly consequence: string;
}

const WORDING: Record<Verb, Wording> = {
  pause: {
    button: "Pause",
    question: (name) => `Pause ${name}?`,
    consequence: "It saves a checkpoint, gives its GPUs back, and waits until somebody resumes it.",
  },
  resume: {
    button: "Resume",
    question: (name) => `Resume ${name}?`,
    consequence: "It joins the queue and continues from its checkpoint.",
  },
  cancel: {
    button: "Cancel job",
    question: (name) => `Cancel ${name} for good?`,
    consequence: "Its workers stop now. Logs, metrics and checkpoints stay; it cannot be resumed.",
  },
};

export function Verbs({ job }: { readonly job: Job }) {
  const [asked, setAsked] = useState<Verb | null>(null);
  return (
    <>
      {verbsFor(job.state).map((verb) => (
        <Button
          key={verb}
          look={verb === "cancel" ? "danger" : "plain"}
          onClick={() => {
            setAsked(verb);
          }}
        >
          {WORDING[verb].button}
        </Button>
      ))}
      {asked !== null && (
        <Confirmation
          job={job}
          verb={asked}
          onClose={() => {
            setAsked(null);
          }}
        />
      )}
    </>
  );
}

interface ConfirmationProps {
  readonly job: Job;
  readonly verb: Verb;
  readonly onClose: () => void;
}

function Confirmation({ job, verb, onClose }: ConfirmationProps) {
  const [reason, setReason] = useState("");
  const call = useJobVerb(job.id);
  const wording = WORDING[verb];
  const confirm = (event: SyntheticEvent) => {
    event.preventDefault();
    call.mutate({ verb, reason: reason.trim() }, { onSuccess: onClose });
  };
  return (
    <Dialog title={wording.question(job.name)} onClose={onClose}>
      <form className={styles.form} onSubmit={confirm}>
        <p>{wording.consequence}</p>
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
        {call.isError && (
          <p role="alert" className={styles.problem}>
            {messageOf(call.error)}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button
            type="submit"
            look={verb === "cancel" ? "danger" : "primary"}
            disabled={call.isPending}
          >
            {wording.button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
