/** The sums of the account: what was promised, what became of it, and what came on top. */

import type { GpuUsage } from "../../../api/types";
import { Stat } from "../../../design/Stat";
import { formatDuration, formatGpuHours, formatMetric, formatShare } from "../../../domain/format";
import { guaranteeOf, heldOf, idleOf, wasteOf } from "../../../domain/gpuHours";
import styles from "./Usage.module.css";

export function Totals({ usage }: { readonly usage: GpuUsage | undefined }) {
  const total = usage?.total;
  const guarantee = total && guaranteeOf(total);
  const ofGuarantee = (gpuHours: number) =>
    guarantee ? `${formatShare(gpuHours / guarantee)} of the guarantee` : "without a guarantee";
  return (
    <section aria-label="GPU-hours in all" className={styles.totals}>
      <div className={styles.figures}>
        <Figure label="Guaranteed" gpuHours={guarantee} note={total && "as it was then"} />
        <Figure
          label="Own"
          gpuHours={total?.guaranteed_gpu_hours}
          note={total && ofGuarantee(total.guaranteed_gpu_hours)}
        />
        <Figure
          label="Borrowed"
          gpuHours={total?.borrowed_gpu_hours}
          note={total && "beyond the guarantee"}
        />
        <Figure
          label="Lent"
          gpuHours={total?.lent_gpu_hours}
          note={total && ofGuarantee(total.lent_gpu_hours)}
        />
        <Figure
          label="Idle"
          gpuHours={total && idleOf(total)}
          note={total && ofGuarantee(idleOf(total))}
        />
        <Figure
          label="Held in all"
          gpuHours={total && heldOf(total)}
          note={total && (trained(total) ?? "nothing was held")}
        />
      </div>
      {usage !== undefined && <Remarks usage={usage} />}
    </section>
  );
}

interface FigureProps {
  readonly label: string;
  readonly gpuHours: number | undefined;
  readonly note: string | undefined;
}

function Figure({ label, gpuHours, note }: FigureProps) {
  return (
    <Stat
      label={label}
      value={
        gpuHours === undefined ? undefined : (
          <>
            {formatGpuHours(gpuHours)} <small>GPU-h</small>
          </>
        )
      }
      note={note}
    />
  );
}

function trained(total: GpuUsage["total"]): string | undefined {
  const [first] = wasteOf(total);
  return first && `${formatShare(first.share)} trained`;
}

const LEAST_SHARE = 0.01;

/** What a bill and a doubt need: prices, work that was lost, times in which nobody looked. */
function Remarks({ usage }: { readonly usage: GpuUsage }) {
  const { total, unseen_seconds: unseen } = usage;
  const [, ...rest] = wasteOf(total);
  const remarks = [
    ...rest
      .filter(({ share }) => share >= LEAST_SHARE)
      .map(({ name, share }) => `${formatShare(share)} ${name}`),
    ...(total.cost !== null && heldOf(total) > 0 ? [`cost ${formatMetric(total.cost)}`] : []),
    ...(total.credit !== null && total.lent_gpu_hours > 0
      ? [`credit for what was lent ${formatMetric(total.credit)}`]
      : []),
    ...(unseen > 0
      ? [`for ${formatDuration(unseen)} nobody looked: what changed then counts from its end`]
      : []),
  ];
  if (remarks.length === 0) return null;
  return <p className={styles.remarks}>{remarks.join(" · ")}</p>;
}
