/** One figure with what it counts and what it means. */

import type { ReactNode } from "react";

import { Skeleton } from "./Skeleton";
import styles from "./Stat.module.css";

interface StatProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly note: ReactNode;
}

/** `undefined` for a value or a note means that it is not known yet. */
export function Stat({ label, value, note }: StatProps) {
  return (
    <div className={styles.stat} role="group" aria-label={label}>
      <p className={styles.label}>{label}</p>
      <p className={styles.value}>{value ?? <Skeleton height={28} width={56} />}</p>
      <div className={styles.note}>{note ?? <Skeleton height={12} width={90} />}</div>
    </div>
  );
}
