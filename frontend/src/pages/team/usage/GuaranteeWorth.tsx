/** What is each GPU of the team's guarantee worth to it? For its leads, who may have it replayed. */

import { usePools } from "../../../api/cluster";
import { messageOf } from "../../../api/errors";
import { useAskPrice, useCancelPrice, usePrice } from "../../../api/quotaPrices";
import { isLive } from "../../../api/quotas";
import { useMembers } from "../../../api/teams";
import type { QuotaPrice } from "../../../api/types";
import { useInAddress } from "../../../app/useInAddress";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { RelativeTime } from "../../../design/Time";
import { UnderWay } from "../../../design/UnderWay";
import { useTeamColour } from "../../../design/teamColour";
import { plural } from "../../../domain/format";
import { jobHours, priceBars, priceInWords } from "../../../domain/quotaPrice";
import { replayedWords } from "../../../domain/quotas";
import { mayDoIt } from "../../../domain/roles";
import styles from "./GuaranteeWorth.module.css";

const DAYS = 7;

export function GuaranteeWorth({ team }: { readonly team: string }) {
  const members = useMembers(team);
  const pools = usePools();
  const [id, keepId] = useInAddress("price");
  const ask = useAskPrice();
  const price = usePrice(id);
  if (!mayDoIt(members.data, "divide_quotas")) return null;
  const isBusy = ask.isPending || isLive(price.data);
  return (
    <Card
      title="What the guarantee is worth"
      note="the recent past, replayed with other guarantees"
    >
      <div className={styles.tools}>
        <p className={styles.note}>
          What its jobs would have saved or lost in the last {plural(DAYS, "day")} with more GPUs
          guaranteed, or fewer.
        </p>
        <span>
          {pools.data?.items.map(({ name }, _, all) => (
            <Button
              key={name}
              disabled={isBusy}
              onClick={() => {
                ask.mutate(
                  { team, pool: name, days: DAYS },
                  {
                    onSuccess: (made) => {
                      keepId(made.id);
                    },
                  },
                );
              }}
            >
              {all.length === 1 ? "Find out" : `Find out for ${name}`}
            </Button>
          ))}
        </span>
      </div>
      {ask.isError && (
        <p role="alert" className={styles.refused}>
          {messageOf(ask.error)}
        </p>
      )}
      {price.data?.request.team === team && <Told price={price.data} />}
    </Card>
  );
}

function Told({ price }: { readonly price: QuotaPrice }) {
  const cancel = useCancelPrice(price.id);
  const colour = useTeamColour();
  if (isLive(price)) {
    return (
      <UnderWay
        work={price}
        label="Replayed"
        told={replayedWords}
        isGivingUp={cancel.isPending}
        onGiveUp={() => {
          cancel.mutate();
        }}
      />
    );
  }
  const { result, request } = price;
  if (result === null) {
    return (
      <p role="status" className={styles.note}>
        {price.state === "cancelled" ? "The replays were given up." : price.error}
      </p>
    );
  }
  return (
    <div className={styles.told} style={{ "--team": colour(request.team) }}>
      <div role="status" aria-label="What it is worth">
        <ul className={styles.sentences}>
          {priceInWords(result, request.days).map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </div>
      <ul aria-label="By GPUs" className={styles.bars}>
        {priceBars(result).map(({ gpus, name, saved, percent, note }) => (
          <li key={gpus}>
            <span>{name}</span>
            <span aria-hidden="true" className={styles.axis}>
              <span
                data-side={(saved ?? 0) < 0 ? "lost" : "saved"}
                style={{ width: `${String(percent)}%` }}
              />
            </span>
            <span className={styles.figures}>{jobHours(saved)}</span>
            {note !== "" && <small>{note}</small>}
          </li>
        ))}
      </ul>
      <p className={styles.note}>
        {plural(result.jobs, "job")} of all teams, pool {request.pool}, read{" "}
        <RelativeTime at={result.until} />. Hours are the sum over its jobs.
      </p>
    </div>
  );
}
