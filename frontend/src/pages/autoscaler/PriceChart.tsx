/** What one more GPU was worth over the time that is shown. */

import { useMemo, type ReactNode } from "react";

import { usePrices } from "../../api/ticks";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { pricesOption } from "../../charts/prices";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { formatMetric, plural } from "../../domain/format";
import type { TimeRange } from "../../domain/timeRange";

interface PriceChartProps {
  readonly pool: string;
  readonly range: TimeRange;
  readonly at: number | null;
  readonly children: ReactNode;
}

const HEIGHT = 170;

export function PriceChart({ pool, range, at, children }: PriceChartProps) {
  const prices = usePrices(pool, range);
  const colours = useChartColours();
  const { from, to, isLive } = range;
  const option = useMemo(
    () => prices.data && pricesOption(prices.data, { from, to, isLive }, at, colours),
    [prices.data, from, to, isLive, at, colours],
  );
  const items = prices.data?.items ?? [];
  const highest = Math.max(0, ...items.map(({ price }) => price ?? 0));
  const alarms = prices.data?.alarms.length ?? 0;
  return (
    <Card
      title="Worth of one more GPU"
      note={
        prices.data !== undefined &&
        `in the unit of policy ${prices.data.policy}${alarms > 0 ? ` · ${plural(alarms, "alarm")}, in red` : ""}`
      }
    >
      {prices.isPending && <Skeleton height={HEIGHT} />}
      {prices.isLoadingError && (
        <Problem error={prices.error} onRetry={() => void prices.refetch()} />
      )}
      {option !== undefined && items.length > 0 && (
        <Chart
          option={option}
          height={HEIGHT}
          label={`Worth of one more GPU of pool ${pool}, at most ${formatMetric(highest)}, with ${plural(alarms, "alarm")}`}
          name={`worth of one more GPU of pool ${pool}`}
        />
      )}
      {prices.data !== undefined && items.length === 0 && (
        <div style={{ height: HEIGHT }}>
          <EmptyState title="Nothing was changed in this time" />
        </div>
      )}
      {children}
    </Card>
  );
}
