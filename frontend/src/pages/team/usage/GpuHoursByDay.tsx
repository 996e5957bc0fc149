/** GPU-hours by day, or by month of a long time, as a picture and as a table. */

import type { UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";

import type { GpuUsage } from "../../../api/types";
import { Chart } from "../../../charts/Chart";
import { useChartColours } from "../../../charts/colours";
import { gpuHoursOption } from "../../../charts/gpuHours";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { Skeleton } from "../../../design/Skeleton";
import { useTeamColour, useTeamSlots } from "../../../design/teamColour";
import { formatGpuHours } from "../../../domain/format";
import { barsOf, describeBars, type GpuBar } from "../../../domain/gpuHours";
import { colourSlot } from "../../../domain/teamColours";
import type { UsagePeriod } from "../../../domain/usagePeriod";
import outputs from "../../job/results/Outputs.module.css";
import styles from "./Usage.module.css";

const HEIGHT = 260;

interface GpuHoursByDayProps {
  readonly team: string;
  readonly period: UsagePeriod;
  readonly usage: UseQueryResult<GpuUsage>;
}

export function GpuHoursByDay({ team, period, usage }: GpuHoursByDayProps) {
  const colour = useTeamColour()(team);
  return (
    <Card
      title={`GPU-hours by ${period.by}`}
      note={
        <span className={styles.legend} style={{ "--team": colour }}>
          <span data-mark="own">own</span>
          <span data-mark="borrowed">borrowed</span>
          <span data-mark="lent">lent</span>
          <span data-mark="idle">idle</span>
          <span data-mark="guarantee">guarantee, as it was</span>
        </span>
      }
    >
      {usage.isPending && <Skeleton height={HEIGHT} />}
      {usage.isLoadingError && <Problem error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data !== undefined && <Picture team={team} by={period.by} usage={usage.data} />}
    </Card>
  );
}

interface PictureProps {
  readonly team: string;
  readonly by: "day" | "month";
  readonly usage: GpuUsage;
}

function Picture({ team, by, usage }: PictureProps) {
  const colours = useChartColours();
  const slots = useTeamSlots();
  const bars = useMemo(() => barsOf(usage, by), [usage, by]);
  const option = useMemo(() => {
    const colour = colours.teams[colourSlot(slots, team)] ?? colours.accent;
    return gpuHoursOption(bars, colours, colour);
  }, [bars, colours, slots, team]);
  if (usage.items.length === 0) {
    return (
      <EmptyState title="No GPU-hours of this time">
        <p>
          {usage.since === null
            ? "They are here some minutes after the first full hour."
            : "The team was promised none and held none. Choose another time."}
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      <Chart
        option={option}
        height={HEIGHT}
        label={describeBars(bars, by)}
        name={`GPU-hours by ${by}`}
      />
      <details className={styles.numbers}>
        <summary>As a table</summary>
        <BarTable bars={bars} by={by} />
      </details>
    </>
  );
}

const COLUMNS: readonly { readonly title: string; readonly of: (bar: GpuBar) => number }[] = [
  { title: "Own, GPU-h", of: ({ own }) => own },
  { title: "Borrowed, GPU-h", of: ({ borrowed }) => borrowed },
  { title: "Lent, GPU-h", of: ({ lent }) => lent },
  { title: "Idle, GPU-h", of: ({ idle }) => idle },
  { title: "Guaranteed, GPU-h", of: ({ guarantee }) => guarantee },
];

function BarTable({
  bars,
  by,
}: {
  readonly bars: readonly GpuBar[];
  readonly by: "day" | "month";
}) {
  return (
    <div className={outputs.scroll} tabIndex={0} role="region" aria-label="GPU-hours as a table">
      <table className={outputs.entries}>
        <caption className="visually-hidden">{`GPU-hours by ${by}, newest first`}</caption>
        <thead>
          <tr>
            <th scope="col">{by === "day" ? "Day" : "Month"}</th>
            {COLUMNS.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.toReversed().map((bar) => (
            <tr key={bar.name}>
              <th scope="row">{bar.name}</th>
              {COLUMNS.map(({ title, of }) => (
                <td key={title}>{formatGpuHours(of(bar))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
