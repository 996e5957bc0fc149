/** Which colours does a chart draw with? Those of the design tokens, resolved for the theme. */

import { useMemo } from "react";

import { useTheme, type Theme } from "../design/theme";
import { PALETTE_SIZE } from "../domain/teamColours";

export interface ChartColours {
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly border: string;
  readonly surface: string;
  readonly accent: string;
  readonly busy: string;
  readonly danger: string;
  readonly warning: string;
  readonly teams: readonly string[];
}

export function useChartColours(): ChartColours {
  const theme = useTheme();
  return useMemo(() => readColours(theme), [theme]);
}

/** ECharts knows no custom properties, so the browser resolves them on an element of that theme. */
function readColours(theme: Theme): ChartColours {
  const probe = document.createElement("span");
  probe.style.colorScheme = theme;
  document.body.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    text: read("text"),
    muted: read("text-muted"),
    grid: read("grid"),
    border: read("border-strong"),
    surface: read("surface-raised"),
    accent: read("accent"),
    busy: read("busy"),
    danger: read("danger"),
    warning: read("warning"),
    teams: Array.from({ length: PALETTE_SIZE }, (_, slot) => read(`team-${slot}`)),
  };
  probe.remove();
  return colours;
}
