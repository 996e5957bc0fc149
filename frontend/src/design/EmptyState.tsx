/** Nothing to show yet: say what would be here and how to get it. */

import type { ReactNode } from "react";

import styles from "./EmptyState.module.css";

interface EmptyStateProps {
  readonly title: string;
  /** It is all there is on the page, so its title is the page's heading. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}

export function EmptyState({ title, isPage = false, children }: EmptyStateProps) {
  const Title = isPage ? "h1" : "p";
  return (
    <div className={styles.empty}>
      <Title className={styles.title}>{title}</Title>
      {children}
    </div>
  );
}
