/** Only the parts of ECharts that the dashboard draws with. */

import { LineChart } from "echarts/charts";
import {
  AxisPointerComponent,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { LabelLayout } from "echarts/features";
import { init, use as register, type ComposeOption, type EChartsType } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { LineSeriesOption } from "echarts/charts";
import type { GridComponentOption, TooltipComponentOption } from "echarts/components";

register([
  LineChart,
  AxisPointerComponent,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
  LabelLayout,
  SVGRenderer,
]);

export type ChartOption = ComposeOption<
  LineSeriesOption | GridComponentOption | TooltipComponentOption
>;
export type { EChartsType, LineSeriesOption };
export { init };
