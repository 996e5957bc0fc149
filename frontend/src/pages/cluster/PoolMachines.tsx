/** Which machines were asked for and given back lately, and why? Only where pools do either. */

import type { Pool } from "../../api/types";
import { Card } from "../../design/Card";
import { RelativeTime } from "../../design/Time";
import { machineEvents } from "../../domain/nodes";
import styles from "./ClusterPage.module.css";

export function PoolMachines({ pools }: { readonly pools: readonly Pool[] }) {
  const asking = pools.filter((pool) => pool.machines !== null);
  if (asking.length === 0) return null;
  const events = machineEvents(asking);
  return (
    <Card title="Machines" note="that pools ask their cluster for, and give back">
      <ul aria-label="Machines asked for and given back" className={styles.machines}>
        {events.map((event) => (
          <li key={`${event.pool} ${event.at} ${event.text}`}>
            <RelativeTime at={event.at} />, pool <b>{event.pool}</b>: {event.text}
          </li>
        ))}
        {events.length === 0 && <li>None was asked for or given back yet.</li>}
      </ul>
    </Card>
  );
}
