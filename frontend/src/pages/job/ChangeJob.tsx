/** Another range of workers or batches, another priority: while the job lives. */

import { useState } from "react";

import { useChangeJob } from "../../api/jobs";
import type { JobDetail } from "../../api/types";
import { changesTo, entryOf, TERMS } from "../../domain/terms";
import styles from "./ChangeJob.module.css";
import { Question } from "../../design/Question";

export function ChangeJob({ job }: { readonly job: JobDetail }) {
  const call = useChangeJob(job.id, job.version);
  const [entered, setEntered] = useState<readonly (string | null)[]>(TERMS.map(() => null));
  const entries = TERMS.map((term, place) => entered[place] ?? entryOf(job.resolved_spec, term));
  return (
    <Question
      button="Change"
      title={`Change ${job.name}`}
      consequence="It counts from the next planning tick on. Training goes on meanwhile."
      isDanger={false}
      call={call}
      onConfirm={(close) => {
        call.mutate(changesTo(job.resolved_spec, entries), {
          onSuccess: () => {
            setEntered(TERMS.map(() => null));
            close();
          },
        });
      }}
    >
      <div className={styles.fields}>
        {TERMS.map(({ label, min, max, isOptional = false }, place) => (
          <label key={label} className={styles.field}>
            {label}
            <input
              type="number"
              required={!isOptional}
              step={isOptional ? "any" : 1}
              min={min}
              max={max}
              value={entries[place]}
              onChange={(event) => {
                setEntered(entered.with(place, event.target.value));
              }}
            />
          </label>
        ))}
      </div>
    </Question>
  );
}
