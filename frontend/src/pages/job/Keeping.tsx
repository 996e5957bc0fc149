/** How long is a job kept? Pinned for ever, else until it is old or somebody deletes it. */

import { useState, type SyntheticEvent } from "react";
import { useNavigate } from "react-router";

import { messageOf } from "../../api/errors";
import { useDeleteJob, usePin } from "../../api/jobs";
import type { JobDetail } from "../../api/types";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { plural } from "../../domain/format";
import { isDeletable } from "../../domain/states";
import styles from "./Verbs.module.css";

type Question = "pin" | "unpin" | "delete";

interface Wording {
  readonly button: string;
  readonly title: (name: string) => string;
  readonly consequence: (job: JobDetail) => string;
}

const WORDING: Record<Question, Wording> = {
  pin: {
    button: "Pin",
    title: (name) => `Pin ${name}?`,
    consequence: () =>
      "Of a pinned job nothing is removed because it is old: neither its logs, checkpoints and" +
      " curves nor the job itself. Nothing is lost by it; it keeps its place on the disk.",
  },
  unpin: {
    button: "Unpin",
    title: (name) => `Unpin ${name}?`,
    consequence: () =>
      "From now on its logs, its checkpoints and at last the job itself are removed when they are" +
      " old enough. What is already older goes within minutes, and nobody can bring it back.",
  },
  delete: {
    button: "Delete job",
    title: (name) => `Delete ${name} for ever?`,
    consequence: (job) =>
      `Lost for good: its checkpoints and files, its logs, its curves${ofSteps(job)}, its events` +
      " and its spec. Only the GPU time that it used stays in the sums.",
  },
};

function ofSteps(job: JobDetail): string {
  return job.step > 0 ? ` of ${plural(job.step, "step")}` : "";
}

export function Keeping({ job }: { readonly job: JobDetail }) {
  const [asked, setAsked] = useState<Question | null>(null);
  const pinning: Question = job.is_pinned ? "unpin" : "pin";
  const questions: Question[] = isDeletable(job) ? [pinning, "delete"] : [pinning];
  return (
    <>
      {questions.map((question) => (
        <Button
          key={question}
          look={question === "delete" ? "danger" : "plain"}
          onClick={() => {
            setAsked(question);
          }}
        >
          {WORDING[question].button}
        </Button>
      ))}
      {asked !== null && (
        <Confirmation
          key={asked}
          job={job}
          question={asked}
          onClose={() => {
            setAsked(null);
          }}
        />
      )}
    </>
  );
}

interface ConfirmationProps {
  readonly job: JobDetail;
  readonly question: Question;
  readonly onClose: () => void;
}

function Confirmation({ job, question, onClose }: ConfirmationProps) {
  const navigate = useNavigate();
  const pin = usePin(job.id);
  const deletion = useDeleteJob(job.id);
  const call = question === "delete" ? deletion : pin;
  const wording = WORDING[question];
  const confirm = (event: SyntheticEvent) => {
    event.preventDefault();
    if (question === "delete") {
      deletion.mutate(undefined, { onSuccess: () => void navigate("/", { replace: true }) });
    } else {
      pin.mutate(question === "pin", { onSuccess: onClose });
    }
  };
  return (
    <Dialog title={wording.title(job.name)} onClose={onClose}>
      <form className={styles.form} onSubmit={confirm}>
        <p>{wording.consequence(job)}</p>
        {call.isError && (
          <p role="alert" className={styles.problem}>
            {messageOf(call.error)}
          </p>
        )}
        <div className={styles.buttons}>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button
            type="submit"
            look={question === "delete" ? "danger" : "primary"}
            disabled={call.isPending}
          >
            {wording.button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
