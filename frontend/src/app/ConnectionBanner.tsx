/** Says when the service is away; what is on screen stays, and is then old. */

import { useSyncExternalStore } from "react";

import { connection } from "../api/connection";
import styles from "./ConnectionBanner.module.css";

export function ConnectionBanner() {
  const isLost = useSyncExternalStore(connection.subscribe, connection.isLost);
  return (
    <div role="status" className={styles.region}>
      {isLost && (
        <p className={styles.banner}>
          <span className={styles.mark} aria-hidden="true" />
          Reconnecting to the service. Training goes on; the figures here may be old.
        </p>
      )}
    </div>
  );
}
