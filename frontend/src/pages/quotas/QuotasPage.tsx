/** What is each team guaranteed of a pool? Seen by all, changed by admins and leads, previewed first. */

import { usePools, useTeams } from "../../api/cluster";
import { messageOf } from "../../api/errors";
import {
  NotSaved,
  isLive,
  useAskPreview,
  useDividedTeams,
  usePreview,
  useSaveGuarantees,
} from "../../api/quotas";
import { useSession } from "../../api/session";
import type { Pool } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import { Segments } from "../../design/Segments";
import { Skeleton } from "../../design/Skeleton";
import { plural } from "../../domain/format";
import {
  changesOf,
  inOrder,
  takenBack,
  treeOf,
  type GuaranteeChange,
  type TeamRow,
} from "../../domain/quotas";
import { Affected } from "./Affected";
import { PreviewTold } from "./PreviewTold";
import { QuotaHistory } from "./QuotaHistory";
import { QuotaTree } from "./QuotaTree";
import { useQuotaDraft } from "./useQuotaDraft";
import { problemsOf, promisedInWords, unplaced } from "./wording";
import styles from "./QuotasPage.module.css";

const DAYS = [1, 7, 31].map((value) => ({ value, text: plural(value, "day") }));

export default function QuotasPage() {
  const pools = usePools();
  const items = pools.data?.items ?? [];
  const [chosen, setChosen] = useInAddress("pool");
  const pool = items.find(({ name }) => name === chosen) ?? items[0];
  const isAdmin = useSession().data?.user.is_admin ?? false;
  return (
    <div className={frame.page}>
      <title>Quotas · Concertina</title>
      <header className={frame.heading}>
        <h1>Quotas</h1>
        <p>what each team is guaranteed, and gets back within seconds when it has work</p>
      </header>
      {pools.isLoadingError && <Problem error={pools.error} onRetry={() => void pools.refetch()} />}
      {items.length > 1 && pool !== undefined && (
        <Segments
          label="Pool"
          options={items.map(({ name }) => ({ value: name, text: name }))}
          value={pool.name}
          onChange={setChosen}
        />
      )}
      {pools.isPending && <Skeleton height={320} />}
      {pool !== undefined && <OfPool key={pool.name} pool={pool} isAdmin={isAdmin} />}
      {pools.isSuccess && pool === undefined && (
        <EmptyState title="No pools yet">
          <p>Teams are guaranteed GPUs of a pool. A pool comes with its first node.</p>
        </EmptyState>
      )}
      {isAdmin && <QuotaHistory />}
    </div>
  );
}

interface OfPoolProps {
  readonly pool: Pool;
  readonly isAdmin: boolean;
}

function OfPool({ pool, isAdmin }: OfPoolProps) {
  const teams = useTeams(pool.name);
  const rows = treeOf(teams.data?.items ?? []);
  const divided = useDividedTeams(teams.data?.items ?? [], isAdmin);
  const mayChange = ({ team }: TeamRow) =>
    isAdmin || (team.parent !== null && divided.has(team.parent));
  const [kept, keep] = useQuotaDraft(pool.name);
  const save = useSaveGuarantees(pool.name);
  const ask = useAskPreview();
  const preview = usePreview(kept.preview);
  const changes = changesOf(kept.draft, rows);
  const isRunning = isLive(preview.data);

  const saveAll = (wanted: readonly GuaranteeChange[], undoes: readonly GuaranteeChange[]) => {
    save.mutate(wanted, {
      onSuccess: (saved) => {
        keep({ draft: {}, lastSaved: undoes.length > 0 ? [] : saved });
      },
      onError: (error) => {
        if (error instanceof NotSaved && error.saved.length > 0) keep({ lastSaved: error.saved });
      },
    });
  };

  if (teams.isPending) return <Skeleton height={320} />;
  if (teams.isLoadingError) {
    return <Problem error={teams.error} onRetry={() => void teams.refetch()} />;
  }
  const isOpen = rows.some(mayChange);
  return (
    <div className={styles.halves} data-single={!isOpen}>
      <Card title={`Pool ${pool.name}`} note={promisedInWords(rows, pool, changes)} isFlush>
        {rows.length === 0 && (
          <EmptyState title="No teams yet">
            <p>Teams and their people are added in the admin.</p>
          </EmptyState>
        )}
        <QuotaTree
          rows={rows}
          gpusTotal={pool.gpus_total}
          draft={kept.draft}
          problems={problemsOf(changes, save.error, ask.error)}
          mayChange={mayChange}
          onChange={(team, text) => {
            save.reset();
            ask.reset();
            keep({ draft: { ...kept.draft, [team]: text } });
          }}
        />
        {isOpen && (
          <div className={styles.buttons}>
            <Button
              look="primary"
              disabled={changes.length === 0 || save.isPending}
              onClick={() => {
                saveAll(changes, []);
              }}
            >
              {changes.length === 0 ? "Save" : `Save ${plural(changes.length, "change")}`}
            </Button>
            {Object.keys(kept.draft).length > 0 && (
              <Button
                look="quiet"
                onClick={() => {
                  save.reset();
                  ask.reset();
                  keep({ draft: {} });
                }}
              >
                Start over
              </Button>
            )}
            {kept.lastSaved.length > 0 && (
              <Button
                disabled={save.isPending}
                onClick={() => {
                  saveAll(inOrder(takenBack(kept.lastSaved), rows), kept.lastSaved);
                }}
              >
                Undo the last save
              </Button>
            )}
            <p role="status" className={styles.note}>
              {save.isSuccess && changes.length === 0 && "Saved."}
            </p>
          </div>
        )}
        {save.isError && unplaced(save.error) !== "" && (
          <p role="alert" className={styles.refused}>
            {unplaced(save.error)}
          </p>
        )}
      </Card>
      {isOpen && (
        <Card title="What it would have meant" note="the recent past, replayed">
          <Affected changes={changes} rows={rows} />
          <div className={styles.asking}>
            <Segments
              label="Days"
              options={DAYS}
              value={kept.days}
              onChange={(days) => {
                keep({ days });
              }}
            />
            <Button
              disabled={changes.length === 0 || ask.isPending || isRunning}
              onClick={() => {
                ask.mutate(
                  { pool: pool.name, changes, days: kept.days },
                  {
                    onSuccess: ({ id }) => {
                      keep({ preview: id });
                    },
                  },
                );
              }}
            >
              Preview
            </Button>
          </div>
          {ask.isError && (
            <p role="alert" className={styles.refused}>
              {messageOf(ask.error)}
            </p>
          )}
          {preview.data === undefined ? (
            <p className={styles.note}>
              Change a guarantee, and see who would have waited, borrowed and lent how much, before
              you save it.
            </p>
          ) : (
            <PreviewTold preview={preview.data} />
          )}
        </Card>
      )}
    </div>
  );
}
