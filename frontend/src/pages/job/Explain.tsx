/** Why the job has what it has: the planner's sentence, and what one worker more or less is worth. */

import { useExplanation } from "../../api/jobs";
import type { Explanation, JobDetail, PoolOffer } from "../../api/types";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { formatGpuTime, formatMetric } from "../../domain/format";
import { reasonLabel } from "../../domain/reasons";
import { isFinal } from "../../domain/states";
import { Outcome } from "./Outcome";
import { RemedyOffer } from "./RemedyOffer";
import { Choices } from "./Choices";
import { PoolOffers } from "./PoolOffers";
import { Gains } from "./Gains";
import styles from "./Explain.module.css";

export function Explain({ job }: { readonly job: JobDetail }) {
  const explanation = useExplanation(job.id, !isFinal(job.state));
  if (isFinal(job.state)) return <Outcome job={job} />;
  return (
    <Card title="Why" note={<Decided at={explanation.data?.decided_at} />}>
      {explanation.isPending && <Skeleton height={220} />}
      {explanation.isLoadingError && (
        <Problem error={explanation.error} onRetry={() => void explanation.refetch()} />
      )}
      {explanation.data !== undefined && <Answer explanation={explanation.data} job={job} />}
    </Card>
  );
}

function Decided({ at }: { readonly at: string | null | undefined }) {
  if (at === null || at === undefined) return null;
  return (
    <>
      decided <RelativeTime at={at} />
    </>
  );
}

interface AnswerProps {
  readonly explanation: Explanation;
  readonly job: JobDetail;
}

function Answer({ explanation, job }: AnswerProps) {
  const { reason, message, remedy, choices, price, position, details } = explanation;
  return (
    <div className={styles.answer}>
      <p className={styles.reason}>{reasonLabel(reason)}</p>
      <p className={styles.sentence}>{message || job.message || "Not planned yet."}</p>
      {remedy !== null && <RemedyOffer job={job} remedy={remedy} />}
      {poolOffers(explanation).length > 0 && <PoolOffers offers={poolOffers(explanation)} />}
      {choices.some((choice) => choice.samples_per_second > 0) && (
        <Choices choices={choices} chosen={explanation.workers ?? job.workers} team={job.team} />
      )}
      {details?.kind === "running" && <Gains details={details} team={job.team} />}
      <dl className={styles.numbers}>
        <Number name="GPU time so far" value={formatGpuTime(explanation.gpu_hours * 3600)} />
        {position !== null && <Number name="Position in the queue" value={String(position)} />}
        {explanation.gpus_asked !== null && (
          <Number name="GPUs asked" value={String(explanation.gpus_asked)} />
        )}
        {explanation.gpus_free !== null && (
          <Number name="GPUs free" value={String(explanation.gpus_free)} />
        )}
        {details?.kind === "waiting" && (
          <Number
            name="GPUs that can be had by shrinking others"
            value={String(details.available_gpus)}
          />
        )}
        {price !== null && <Number name="Worth of one more GPU" value={formatMetric(price)} />}
      </dl>
      {explanation.limits.length > 0 && (
        <ul className={styles.limits} aria-label="Limits">
          {explanation.limits.map((one) => (
            <li key={one.message} data-used-up={one.is_used_up || undefined}>
              {one.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function poolOffers({ details }: Explanation): readonly PoolOffer[] {
  if (details?.kind !== "waiting" && details?.kind !== "started") return [];
  return details.pools ?? [];
}

function Number({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
