/** Who is told of what happens to a team's jobs, or to all: a row each, and a way to add one. */

import { useState } from "react";

import { useWebhooks } from "../../api/webhooks";
import type { MadeWebhook } from "../../api/types";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { AddWebhook, ShownSigningKey } from "./WebhookForms";
import { WebhookRow } from "./WebhookRow";
import styles from "./Notifications.module.css";

interface WebhooksProps {
  readonly team: string | null; // null: the installation
  readonly mayManage: boolean;
  readonly whomToAsk: string;
}

export function Webhooks({ team, mayManage, whomToAsk }: WebhooksProps) {
  const webhooks = useWebhooks(team, mayManage);
  const [isAdding, setIsAdding] = useState(false);
  const [made, setMade] = useState<MadeWebhook | null>(null);
  const items = webhooks.data ?? [];
  return (
    <Card
      title="Who is told"
      note={
        team === null ? "of the jobs of all teams" : `of the jobs of ${team} and of teams below`
      }
      isFlush
      actions={
        mayManage && (
          <Button
            look="primary"
            onClick={() => {
              setIsAdding(true);
            }}
          >
            Add a webhook
          </Button>
        )
      }
    >
      {!mayManage && (
        <EmptyState title="Only leads see and change who is told">
          <p>{whomToAsk}</p>
        </EmptyState>
      )}
      {mayManage && webhooks.isPending && <SkeletonRows rows={2} height={56} />}
      {webhooks.isLoadingError && (
        <Problem error={webhooks.error} onRetry={() => void webhooks.refetch()} />
      )}
      {webhooks.isSuccess && items.length === 0 && (
        <EmptyState title="Nobody is told yet">
          <p>A channel of Slack or Mattermost, a mail address or a program hears when jobs end.</p>
        </EmptyState>
      )}
      <ul className={styles.list} aria-label="Webhooks">
        {items.map((webhook) => (
          <WebhookRow key={webhook.id} webhook={webhook} />
        ))}
      </ul>
      {isAdding && (
        <AddWebhook
          team={team}
          onMade={(webhook) => {
            setIsAdding(false);
            setMade(webhook.shape === "json" ? webhook : null); // nobody checks what others are signed with
          }}
          onClose={() => {
            setIsAdding(false);
          }}
        />
      )}
      {made !== null && (
        <ShownSigningKey
          webhook={made}
          onClose={() => {
            setMade(null);
          }}
        />
      )}
    </Card>
  );
}
