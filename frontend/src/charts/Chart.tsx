/** A chart in a box of fixed height: the box is there before the drawing, so nothing jumps. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { Problem } from "../design/Problem";
import { Skeleton } from "../design/Skeleton";
import styles from "./Chart.module.css";
import { useChartColours } from "./colours";
import type { ChartOption } from "./echarts";
import { savePng } from "./picture";
import { oneMore, recall, remember, waitBeforeReload } from "./reloading";

const canvas = queryOptions({
  queryKey: ["code", "charts"],
  queryFn: () => import("./Canvas"),
  retry: false,
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
  /** Of the file as which it can be saved; without one, the page has a button of its own. */
  readonly name?: string;
}

export function Chart({ option, height, label, name }: ChartProps) {
  const code = useQuery(canvas);
  const frame = useRef<HTMLDivElement>(null);
  if (code.isError) {
    return <CodeDidNotCome error={code.error} height={height} />;
  }
  return (
    <div ref={frame} className={styles.frame}>
      <div role="img" aria-label={label} style={{ height, minWidth: 0 }}>
        {code.data ? <code.data.default option={option} /> : <Skeleton height={height} />}
      </div>
      {name !== undefined && code.data !== undefined && (
        <SavePicture name={name} drawn={() => frame.current} />
      )}
    </div>
  );
}

interface SavePictureProps {
  readonly name: string;
  readonly drawn: () => HTMLElement | null;
}

function SavePicture({ name, drawn }: SavePictureProps) {
  const { surface } = useChartColours();
  const [hasFailed, setFailed] = useState(false);
  const save = () => {
    const element = drawn();
    if (element === null) return;
    savePng(element, surface, name).then(
      () => {
        setFailed(false);
      },
      () => {
        setFailed(true);
      },
    );
  };
  return (
    <button
      type="button"
      className={styles.save}
      aria-label={`Save ${name} as PNG`}
      title="Save as a picture"
      onClick={save}
    >
      {hasFailed ? "Could not be saved" : "PNG"}
    </button>
  );
}

/** The network may change while code loads, for example when a local daemon makes one for a job. */
function CodeDidNotCome({ error, height }: { readonly error: unknown; readonly height: number }) {
  const [wait] = useState(() => waitBeforeReload(recall(), Date.now()));
  useEffect(() => {
    if (wait === null) {
      return undefined;
    }
    const timer = setTimeout(reloadOnce, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [wait]);
  return wait === null ? <Problem error={error} onRetry={reload} /> : <Skeleton height={height} />;
}

/** Several charts of a page miss the same code. */
function reloadOnce(): void {
  if (recall().at < performance.timeOrigin) {
    reload();
  }
}

function reload(): void {
  remember(oneMore(recall(), Date.now()));
  window.location.reload();
}
