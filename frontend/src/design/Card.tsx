/** A titled surface: every block of a page is one. */

import { useId, type ReactNode } from "react";

import styles from "./Card.module.css";

interface CardProps {
  readonly title: string;
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

export function Card({ title, note, actions, isFlush = false, children }: CardProps) {
  const heading = useId();
  return (
    <section className={styles.card} aria-labelledby={heading}>
      <header className={styles.header}>
        <div className={styles.titles}>
          <h2 id={heading}>{title}</h2>
          {note !== undefined && note !== false && <p className={styles.note}>{note}</p>}
        </div>
        {actions}
      </header>
      <div className={isFlush ? styles.flush : styles.body}>{children}</div>
    </section>
  );
}
