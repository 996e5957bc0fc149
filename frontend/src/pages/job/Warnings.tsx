/** What in the job's script is to be looked at: its training may not be what was meant. */

import { Card } from "../../design/Card";
import styles from "./Warnings.module.css";

export function Warnings({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <Card title="Look at its script">
      <ul className={styles.warnings}>
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Card>
  );
}
