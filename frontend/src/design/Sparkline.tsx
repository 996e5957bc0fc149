/** The course of a few numbers, word-sized. */

import { sparklinePath } from "../domain/curves";
import styles from "./Sparkline.module.css";

interface SparklineProps {
  readonly values: readonly number[];
  readonly label: string;
}

const WIDTH = 96;
const HEIGHT = 22;

export function Sparkline({ values, label }: SparklineProps) {
  return (
    <svg
      className={styles.sparkline}
      viewBox={`-1 -2 ${WIDTH + 2} ${HEIGHT + 4}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={sparklinePath(values, WIDTH, HEIGHT)} />
    </svg>
  );
}
