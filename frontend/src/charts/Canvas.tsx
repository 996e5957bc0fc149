/** An ECharts drawing that follows its box and its option; loaded only where a chart is shown. */

import { useEffect, useRef } from "react";

import { init, type ChartOption, type EChartsType } from "./echarts";

interface CanvasProps {
  readonly option: ChartOption;
}

export default function Canvas({ option }: CanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | null>(null);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const drawn = init(element, undefined, { renderer: "svg" });
    chart.current = drawn;
    const observer = new ResizeObserver(() => {
      drawn.resize();
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn.dispose();
      chart.current = null;
    };
  }, []);

  useEffect(() => {
    chart.current?.setOption(option, { replaceMerge: ["series", "grid", "xAxis", "yAxis"] });
  }, [option]);

  // Until it is drawn anew, a drawing is as wide as its box was; the page must not scroll for that.
  return <div ref={box} style={{ width: "100%", height: "100%", overflow: "hidden" }} />;
}
