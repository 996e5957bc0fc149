/** When the job will start and finish, with the range that eight of ten outcomes should fall into. */

import type { Job, PredictedSpan } from "../../api/types";
import { useNow } from "../../design/now";
import { Stat } from "../../design/Stat";
import { describeAge, describeLately, describeSpan } from "../../domain/predictions";

export function Predicted({ job }: { readonly job: Job }) {
  const now = useNow();
  const prediction = job.prediction;
  if (prediction === null) return null;
  const age = describeAge(prediction, now);
  return (
    <>
      {prediction.start !== null && (
        <Moment label="Starts" span={prediction.start} now={now} remarks={[age]} />
      )}
      {prediction.finish !== null && (
        <Moment
          label="Finishes"
          span={prediction.finish}
          now={now}
          remarks={[describeLately(prediction.lately), age]}
        />
      )}
    </>
  );
}

interface MomentProps {
  readonly label: string;
  readonly span: PredictedSpan;
  readonly now: number;
  readonly remarks: readonly string[];
}

function Moment({ label, span, now, remarks }: MomentProps) {
  const { middle, range } = describeSpan(span, now);
  const note = [range, ...remarks].filter((words) => words !== "").join("; ");
  return <Stat label={label} value={middle} note={note} />;
}
