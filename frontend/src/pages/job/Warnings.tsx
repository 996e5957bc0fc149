/** What about the job is to be looked at: its training may not be what was meant. */

import { Card } from "../../design/Card";
import styles from "./Warnings.module.css";

interface WarningsProps {
  readonly title: string;
  readonly warnings: readonly string[];
}

export function Warnings({ title, warnings }: WarningsProps) {
  if (warnings.length === 0) return null;
  return (
    <Card title={title}>
      <ul className={styles.warnings}>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Card>
  );
}
