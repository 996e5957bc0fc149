/** What a webhook was sent, how that went, and a way to send it once more. */

import { Link } from "react-router";

import { useDeliveries, useReplayDelivery } from "../../api/webhooks";
import { messageOf } from "../../api/errors";
import type { Delivery, Webhook } from "../../api/types";
import { ToneBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { plural } from "../../domain/format";
import { DELIVERY_TONES, kindName, problemOf } from "../../domain/webhooks";
import rows from "../../design/Rows.module.css";
import styles from "./Notifications.module.css";

export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const sent = useDeliveries(webhook.id);
  const items = sent.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className={styles.deliveries}>
      {sent.isPending && <SkeletonRows rows={2} height={36} />}
      {sent.isLoadingError && <Problem error={sent.error} onRetry={() => void sent.refetch()} />}
      {sent.isSuccess && items.length === 0 && (
        <p className={rows.note}>
          Nothing was sent yet. Test it to see whether a message comes through.
        </p>
      )}
      <ol aria-label={`Deliveries of ${webhook.name}, the newest first`}>
        {items.map((delivery) => (
          <Row key={delivery.id} webhook={webhook} delivery={delivery} />
        ))}
      </ol>
      {sent.hasNextPage && (
        <Button disabled={sent.isFetchingNextPage} onClick={() => void sent.fetchNextPage()}>
          Show earlier ones
        </Button>
      )}
    </div>
  );
}

function Row({ webhook, delivery }: { readonly webhook: Webhook; readonly delivery: Delivery }) {
  const call = useReplayDelivery(webhook.id, delivery.id);
  const { state, attempts, job_id: job } = delivery;
  const problem = problemOf(delivery);
  return (
    <li className={styles.delivery}>
      <ToneBadge tone={DELIVERY_TONES[state]} text={state} />
      <span>
        {kindName(delivery.kind)}
        {job !== "" && (
          <>
            {" of "}
            <Link to={`/jobs/${job}`}>{job}</Link>
          </>
        )}
      </span>
      <span className={rows.note}>
        <RelativeTime at={delivery.created_at} />
        {attempts > 1 && `, tried ${plural(attempts, "time")}`}
        {state === "waiting" && attempts > 0 && (
          <>
            , again <RelativeTime at={delivery.due_at} />
          </>
        )}
      </span>
      {state !== "waiting" && webhook.is_enabled && (
        <Button
          look="quiet"
          disabled={call.isPending}
          aria-label={`Send again: ${kindName(delivery.kind)} ${job}`.trim()}
          onClick={() => {
            call.mutate(undefined);
          }}
        >
          Send again
        </Button>
      )}
      {problem !== "" && <p className={styles.problem}>{problem}</p>}
      {call.error !== null && (
        <p role="alert" className={styles.problem}>
          {messageOf(call.error)}
        </p>
      )}
    </li>
  );
}
