/** A table that may be wider than its card: the keyboard scrolls it, and paper has all of it. */

import type { ReactNode } from "react";

import outputs from "../../job/results/Outputs.module.css";
import styles from "./Report.module.css";

interface WideTableProps {
  /** What is in it, for those who do not see it. */
  readonly caption: string;
  readonly children: ReactNode;
}

export function WideTable({ caption, children }: WideTableProps) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label={`${caption}, a table`}>
      <table className={`${String(outputs.entries)} ${String(styles.table)}`}>
        <caption className="visually-hidden">{caption}</caption>
        {children}
      </table>
    </div>
  );
}
