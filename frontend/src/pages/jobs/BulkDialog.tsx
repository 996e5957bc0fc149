/** One thing done to many jobs: asked for first, with their number; then told of each. */

import { useEffect, useRef, useState, type SyntheticEvent } from "react";

import { askedOfOne } from "../../api/bulk";
import type { Job } from "../../api/types";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { ProgressBar } from "../../design/ProgressBar";
import { inBulk, sortedOut, statesOf, type BulkAction, type BulkOutcome } from "../../domain/bulk";
import { plural } from "../../domain/format";
import { isLabel } from "../../domain/jobFilter";
import { BulkOutcomes } from "./BulkOutcomes";
import { BULK_WORDING } from "./bulkWording";
import styles from "./BulkDialog.module.css";

interface BulkDialogProps {
  readonly action: BulkAction;
  readonly jobs: readonly Job[];
  /** With those to which it was not done; null: it was not even begun. */
  readonly onClose: (left: readonly Job[] | null) => void;
}

export function BulkDialog({ action, jobs, onClose }: BulkDialogProps) {
  const { fit, unfit } = sortedOut(jobs, action);
  const [wanted, setWanted] = useState<readonly Job[] | null>(null); // null: not begun
  const [outcomes, setOutcomes] = useState<readonly BulkOutcome[]>([]);
  const [text, setText] = useState("");
  const isStopped = useRef(false);
  useEffect(
    () => () => {
      isStopped.current = true;
    },
    [],
  );
  const begin = (some: readonly Job[]) => {
    isStopped.current = false;
    setWanted(some);
    setOutcomes((all) => all.filter(({ result }) => result === "done"));
    void inBulk(some, {
      act: askedOfOne(action, text.trim()),
      tell: (outcome) => {
        setOutcomes((all) => [...all, outcome]);
      },
      isStopped: () => isStopped.current,
      wait: (milliseconds) => new Promise((over) => window.setTimeout(over, milliseconds)),
    });
  };
  const close = () => {
    const done = new Set(
      outcomes.filter(({ result }) => result === "done").map(({ job }) => job.id),
    );
    onClose(wanted === null ? null : jobs.filter(({ id }) => !done.has(id)));
  };
  const wording = BULK_WORDING[action];
  const isOver = outcomes.length === fit.length;
  if (wanted === null) {
    return (
      <Dialog title={wording.title(plural(fit.length, "job"))} onClose={close}>
        <form
          className={styles.form}
          onSubmit={(event: SyntheticEvent) => {
            event.preventDefault();
            begin(fit);
          }}
        >
          <p>{wording.consequence}</p>
          <Names jobs={fit} />
          {unfit.length > 0 && (
            <p className={styles.unfit}>
              {unfit.length} of the {jobs.length} chosen cannot be {wording.done} and{" "}
              {unfit.length === 1 ? "stays" : "stay"} as {unfit.length === 1 ? "it is" : "they are"}
              : {statesOf(unfit)}.
            </p>
          )}
          <Asked action={action} text={text} onChange={setText} />
          <div className={styles.buttons}>
            <Button onClick={close}>Keep as they are</Button>
            <Button
              type="submit"
              look={action === "cancel" ? "danger" : "primary"}
              disabled={action === "label" && !isWhole(text)}
            >
              {wording.button.replace(" jobs", "")} {plural(fit.length, "job")}
            </Button>
          </div>
        </form>
      </Dialog>
    );
  }
  const refused = outcomes.filter(({ result }) => result !== "done").map(({ job }) => job);
  return (
    <Dialog
      title={isOver ? `${fit.length - refused.length} of ${fit.length} ${wording.done}` : "Working"}
      onClose={close}
    >
      <div className={styles.form}>
        <ProgressBar
          progress={outcomes.length / fit.length}
          label={`${outcomes.length} of ${plural(fit.length, "job")}`}
          colour={refused.length > 0 ? "var(--warning)" : "var(--accent)"}
          isLive={!isOver}
        />
        <BulkOutcomes outcomes={outcomes} done={wording.done} />
        <div className={styles.buttons}>
          {isOver && refused.length > 0 && (
            <Button
              onClick={() => {
                begin(refused);
              }}
            >
              Try the {refused.length === 1 ? "one" : refused.length} again
            </Button>
          )}
          {isOver ? (
            <Button look="primary" onClick={close}>
              Close
            </Button>
          ) : (
            <Button
              onClick={() => {
                isStopped.current = true;
              }}
            >
              Stop here
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

const MOST_NAMES = 6;

function Names({ jobs }: { readonly jobs: readonly Job[] }) {
  const more = jobs.length - MOST_NAMES;
  return (
    <ul className={styles.names}>
      {jobs.slice(0, MOST_NAMES).map((job) => (
        <li key={job.id}>
          <b>{job.name}</b> <span>of {job.team}</span>
        </li>
      ))}
      {more > 0 && <li>and {more} more</li>}
    </ul>
  );
}

interface AskedProps {
  readonly action: BulkAction;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

function Asked({ action, text, onChange }: AskedProps) {
  return (
    <label className={styles.field}>
      {action === "label" ? "Label, as NAME=VALUE" : "Reason (optional, shown in the jobs' events)"}
      <input
        value={text}
        maxLength={200}
        placeholder={action === "label" ? "paper=icml27" : undefined}
        onChange={({ target }) => {
          onChange(target.value);
        }}
      />
    </label>
  );
}

function isWhole(label: string): boolean {
  return isLabel(label.trim()) && label.includes("=");
}
