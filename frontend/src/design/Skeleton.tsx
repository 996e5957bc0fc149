/** The shape of what will come, in its final size, so that nothing jumps when it arrives. */

import styles from "./Skeleton.module.css";

interface SkeletonProps {
  readonly height: number | string;
  readonly width?: number | string;
}

export function Skeleton({ height, width = "100%" }: SkeletonProps) {
  return (
    <span data-loading className={styles.skeleton} style={{ height, width }} aria-hidden="true" />
  );
}

/** Several rows of the same height, as a list will have them. */
export function SkeletonRows({ rows, height }: { readonly rows: number; readonly height: number }) {
  return (
    <div className={styles.rows} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={height} />
      ))}
    </div>
  );
}
