/** When the job will start and finish, with the range that eight of ten outcomes should fall into. */

import type { Job, PredictedSpan } from "../../api/types";
import { useNow } from "../../design/now";
import { Stat } from "../../design/Stat";
import { describeLately, describeSpan } from "../../domain/predictions";

export function Predicted({ job }: { readonly job: Job }) {
  const now = useNow();
  const prediction = job.prediction;
  if (prediction === null) return null;
  return (
    <>
      {prediction.start !== null && <Moment label="Starts" span={prediction.start} now={now} />}
      {prediction.finish !== null && (
        <Moment
          label="Finishes"
          span={prediction.finish}
          now={now}
          lately={describeLately(prediction.lately)}
        />
      )}
    </>
  );
}

interface MomentProps {
  readonly label: string;
  readonly span: PredictedSpan;
  readonly now: number;
  readonly lately?: string;
}

function Moment({ label, span, now, lately = "" }: MomentProps) {
  const { middle, range } = describeSpan(span, now);
  return <Stat label={label} value={middle} note={lately === "" ? range : `${range}; ${lately}`} />;
}
