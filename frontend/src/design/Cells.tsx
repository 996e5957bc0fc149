/** Things that can be counted, one cell each: GPUs of a pool, workers of a job. */

import styles from "./Cells.module.css";

export interface Cell {
  readonly colour: string | null;
  readonly title: string;
}

interface CellsProps {
  readonly cells: readonly Cell[];
  readonly label: string;
  readonly size?: "small" | "large";
}

export function Cells({ cells, label, size = "small" }: CellsProps) {
  return (
    <span className={styles.cells} data-size={size} role="img" aria-label={label}>
      {cells.map((cell, index) => (
        <span
          key={index}
          className={styles.cell}
          data-filled={cell.colour !== null}
          style={cell.colour === null ? undefined : { background: cell.colour }}
          title={cell.title}
        />
      ))}
    </span>
  );
}
