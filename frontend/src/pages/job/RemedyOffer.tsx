/** What would start a waiting job, and the button that makes it so where it is the job's own. */

import { useChangeJob } from "../../api/jobs";
import type { JobDetail, Remedy } from "../../api/types";
import { inWords } from "../../domain/terms";
import styles from "./Explain.module.css";
import { Question } from "../../design/Question";

interface RemedyOfferProps {
  readonly job: JobDetail;
  readonly remedy: Remedy;
}

export function RemedyOffer({ job, remedy }: RemedyOfferProps) {
  const call = useChangeJob(job.id);
  const { changes } = remedy;
  return (
    <div className={styles.offer}>
      <p className={styles.remedy}>{remedy.message}</p>
      {changes !== null && job.may_change && (
        <Question
          button={`Set ${inWords(changes)}`}
          title={`Change ${job.name}?`}
          consequence={`${remedy.message} It counts from the next planning tick on.`}
          isDanger={remedy.paused_jobs > 0}
          call={call}
          onConfirm={(close) => {
            call.mutate(changes, { onSuccess: close });
          }}
        />
      )}
    </div>
  );
}
