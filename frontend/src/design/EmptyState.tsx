/** Nothing to show yet: say what would be here and how to get it. */

import type { ReactNode } from "react";

import styles from "./EmptyState.module.css";

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
}

export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}
