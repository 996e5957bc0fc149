/** A chart in a box of fixed height: the box is there before the drawing, so nothing jumps. */

import { queryOptions, useQuery } from "@tanstack/react-query";

import { Problem } from "../design/Problem";
import { Skeleton } from "../design/Skeleton";
import type { ChartOption } from "./echarts";

const RETRIES = 5;

const canvas = queryOptions({
  queryKey: ["code", "charts"],
  queryFn: () => import("./Canvas"),
  // The network may change while it loads, for example when a local daemon makes one for a job.
  retry: RETRIES,
  networkMode: "always",
  staleTime: Infinity,
  gcTime: Infinity,
});

// Asked for with the page itself: behind the live queries it would wait for a free connection.
import("./Canvas").catch(() => undefined);

interface ChartProps {
  readonly option: ChartOption;
  readonly height: number;
  /** What the chart shows, in a sentence, for those who cannot see it. */
  readonly label: string;
}

export function Chart({ option, height, label }: ChartProps) {
  const code = useQuery(canvas);
  if (code.isError) {
    return (
      <Problem
        error={code.error}
        onRetry={() => {
          window.location.reload(); // some browsers remember that a module failed
        }}
      />
    );
  }
  return (
    <div role="img" aria-label={label} style={{ height, minWidth: 0 }}>
      {code.data ? <code.data.default option={option} /> : <Skeleton height={height} />}
    </div>
  );
}
