/** For how long the team keeps each part of its ended jobs, and who may say so. */

import { useState } from "react";

import { useRetention } from "../../api/retention";
import type { KeptPart } from "../../api/types";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { bounds, lasting, WHAT_IS_KEPT } from "../../domain/retention";
import { RetentionForm } from "./RetentionForm";
import styles from "./Secrets.module.css";

export function Retention({ team }: { readonly team: string }) {
  const rules = useRetention(team);
  const [asked, setAsked] = useState<KeptPart | null>(null);
  return (
    <Card
      title="Retention"
      note="what jobs leave behind, after their end; pinned jobs keep it all"
      isFlush
    >
      {rules.isPending && <SkeletonRows rows={5} height={56} />}
      {rules.isLoadingError && <Problem error={rules.error} onRetry={() => void rules.refetch()} />}
      <ul className={styles.list} aria-label="Retention">
        {rules.data?.items.map((rule) => (
          <Row key={rule.part} rule={rule} onAsk={rules.data.may_choose ? setAsked : null} />
        ))}
      </ul>
      {asked !== null && (
        <RetentionForm
          team={team}
          rule={asked}
          maySetBounds={rules.data?.may_set_bounds ?? false}
          onClose={() => {
            setAsked(null);
          }}
        />
      )}
    </Card>
  );
}

interface RowProps {
  readonly rule: KeptPart;
  readonly onAsk: ((rule: KeptPart) => void) | null;
}

function Row({ rule, onAsk }: RowProps) {
  const what = WHAT_IS_KEPT[rule.part];
  const allowed = bounds(rule);
  const origin = rule.days === null ? "as the installation says" : "as the team chose";
  return (
    <li className={styles.secret} aria-label={`Retention of ${what.toLowerCase()}`}>
      <div className={styles.about}>
        <p className={styles.head}>
          <strong>{what}</strong>
          <span>{lasting(rule.kept_days)}</span>
        </p>
        <p className={styles.note}>
          {origin}
          {allowed !== "" && ` · admins allow ${allowed}`}
        </p>
      </div>
      {onAsk !== null && (
        <Button
          aria-label={`Change retention of ${what.toLowerCase()}`}
          onClick={() => {
            onAsk(rule);
          }}
        >
          Change
        </Button>
      )}
    </li>
  );
}
