/** Which images the team's jobs may run. */

import { useTeamImages } from "../../api/secrets";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import styles from "./Secrets.module.css";

export function Images({ team }: { readonly team: string }) {
  const images = useTeamImages(team);
  if (images.data?.runs_images === false) return null; // workers are processes of the machine
  return (
    <Card title="Images" note="that the team's jobs may name; admins make the rules">
      {images.isPending && <SkeletonRows rows={1} height={40} />}
      {images.isLoadingError && (
        <Problem error={images.error} onRetry={() => void images.refetch()} />
      )}
      {images.data && (
        <ul className={styles.images} aria-label="Images">
          <li>
            <code>{images.data.platform_image}</code>, for jobs that name none
          </li>
          {images.data.patterns.map((pattern) => (
            <li key={pattern}>
              <code>{pattern}</code>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
