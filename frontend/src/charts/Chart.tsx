/** A chart in a box of fixed height: the box is there before the drawing, so nothing jumps. */

import { lazy, Suspense } from "react";

import { Skeleton } from "../design/Skeleton";
import type { ChartOption } from "./echarts";

// Asked for with the page itself: behind the live queries it would wait for a free connection.
const loading = import("./Canvas");
const Canvas = lazy(() => loading);

interface ChartProps {
  readonly option: ChartOption;
  readonly height: number;
  /** What the chart shows, in a sentence, for those who cannot see it. */
  readonly label: string;
}

export function Chart({ option, height, label }: ChartProps) {
  return (
    <div role="img" aria-label={label} style={{ height, minWidth: 0 }}>
      <Suspense fallback={<Skeleton height={height} />}>
        <Canvas option={option} />
      </Suspense>
    </div>
  );
}
