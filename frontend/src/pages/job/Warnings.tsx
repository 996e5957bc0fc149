/** What in the job's script is to be looked at: its training goes on, but may not be what was meant. */

import { Card } from "../../design/Card";
import styles from "./Warnings.module.css";

export function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <Card title="Look at its script" note="its training goes on">
      <ul className={styles.warnings}>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Card>
  );
}
