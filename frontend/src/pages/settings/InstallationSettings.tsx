/** With which settings does this installation run? To be read: they are set where it runs. */

import { useInstallationSettings } from "../../api/settings";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { groupsOf } from "../../domain/settings";
import styles from "./SettingsPage.module.css";

export function InstallationSettings() {
  const found = useInstallationSettings(true);
  const items = found.data?.items ?? [];
  return (
    <Card
      title="This installation"
      note="to be read: each is set by a variable, where the service is started"
      isFlush
    >
      {found.isPending && <Skeleton height={240} />}
      {found.isLoadingError && <Problem error={found.error} onRetry={() => void found.refetch()} />}
      {items.length > 0 && (
        <div className={styles.scroll} tabIndex={0} role="region" aria-label="Settings">
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Here</th>
              </tr>
            </thead>
            {groupsOf(items).map(({ name, settings }) => (
              <tbody key={name}>
                <tr>
                  <th scope="rowgroup" colSpan={2}>
                    {name}
                  </th>
                </tr>
                {settings.map((one) => (
                  <tr key={one.name}>
                    <td>
                      {one.meaning}
                      <code>{one.name}</code>
                    </td>
                    <td className={styles.value}>{one.value}</td>
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
        </div>
      )}
    </Card>
  );
}
