/** One that is told: where, of what, whether that works, and what can be done with it. */

import { useId, useState } from "react";

import { useChangeWebhook, useDeleteWebhook, useTestWebhook } from "../../api/webhooks";
import { messageOf } from "../../api/errors";
import type { Webhook } from "../../api/types";
import { Button } from "../../design/Button";
import { useNow } from "../../design/now";
import { Question } from "../../design/Question";
import { RelativeTime } from "../../design/Time";
import { plural } from "../../domain/format";
import { shapeName, toldInWords } from "../../domain/webhooks";
import { Deliveries } from "./Deliveries";
import { ChangeWebhook } from "./WebhookForms";
import rows from "../../design/Rows.module.css";
import styles from "./Notifications.module.css";

export function WebhookRow({ webhook }: { readonly webhook: Webhook }) {
  const [isOpen, setIsOpen] = useState(false);
  const panel = useId();
  const { name } = webhook;
  return (
    <li className={styles.item} aria-label={`Webhook ${name}`}>
      <div className={rows.row}>
        <div className={rows.about}>
          <p className={rows.head}>
            <strong>{name}</strong>
            <span className={rows.role}>{shapeName(webhook.shape)}</span>
            <code>{webhook.url}</code>
            {!webhook.is_enabled && <span className={styles.off}>switched off</span>}
          </p>
          <p className={rows.note}>{toldInWords(webhook)}</p>
          <Failing webhook={webhook} />
        </div>
        <div className={rows.verbs}>
          <Test
            webhook={webhook}
            onAsked={() => {
              setIsOpen(true);
            }}
          />
          <Button
            aria-expanded={isOpen}
            aria-controls={panel}
            aria-label={`Deliveries of ${name}`}
            onClick={() => {
              setIsOpen(!isOpen);
            }}
          >
            Deliveries
          </Button>
          <ChangeWebhook webhook={webhook} />
          <Switch webhook={webhook} />
          <Deletion webhook={webhook} />
        </div>
      </div>
      <div id={panel} hidden={!isOpen}>
        {isOpen && <Deliveries webhook={webhook} />}
      </div>
    </li>
  );
}

function Failing({ webhook: { failures, rests_until: rest } }: { readonly webhook: Webhook }) {
  const now = useNow();
  if (failures === 0) return null;
  return (
    <p className={styles.problem}>
      {failures === 1 ? "The last call failed" : `The last ${plural(failures, "call")} failed`}
      {rest !== null && Date.parse(rest) > now && (
        <>
          ; it is tried again <RelativeTime at={rest} />
        </>
      )}
      . Its deliveries say why.
    </p>
  );
}

function Test({ webhook, onAsked }: { readonly webhook: Webhook; readonly onAsked: () => void }) {
  const call = useTestWebhook(webhook.id);
  return (
    <>
      <Button
        aria-label={`Test ${webhook.name}`}
        disabled={call.isPending || !webhook.is_enabled}
        onClick={() => {
          call.mutate(undefined, { onSuccess: onAsked });
        }}
      >
        Test
      </Button>
      {call.error !== null && (
        <span role="alert" className={styles.problem}>
          {messageOf(call.error)}
        </span>
      )}
    </>
  );
}

function Switch({ webhook }: { readonly webhook: Webhook }) {
  const call = useChangeWebhook(webhook.id);
  return (
    <>
      <Button
        aria-label={`Switch ${webhook.is_enabled ? "off" : "on"} ${webhook.name}`}
        disabled={call.isPending}
        onClick={() => {
          call.mutate({ is_enabled: !webhook.is_enabled });
        }}
      >
        {webhook.is_enabled ? "Switch off" : "Switch on"}
      </Button>
      {call.error !== null && (
        <span role="alert" className={styles.problem}>
          {messageOf(call.error)}
        </span>
      )}
    </>
  );
}

function Deletion({ webhook }: { readonly webhook: Webhook }) {
  const call = useDeleteWebhook(webhook.id);
  return (
    <Question
      button="Delete"
      label={`Delete ${webhook.name}`}
      title={`Delete ${webhook.name} for good?`}
      consequence="What waits to be sent is not sent any more, and what was sent is forgotten. Jobs that name it in their notify go on without it."
      isDanger
      call={call}
      onConfirm={(close) => {
        call.mutate(undefined, { onSuccess: close });
      }}
    />
  );
}
