/** Who did what, and who was refused? For leads of their teams, for admins of everybody. */

import { useMemo } from "react";
import { useSearchParams } from "react-router";

import { auditTable, useAuditEntries } from "../../api/audit";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import { SkeletonRows } from "../../design/Skeleton";
import { addressOf, countOfWishes, filterOf, queryOf, type AuditFilter } from "../../domain/audit";
import { formatCount } from "../../domain/format";
import { AuditFilters } from "./AuditFilters";
import { AuditList } from "./AuditList";
import styles from "./AuditPage.module.css";

export default function AuditPage() {
  const [address, setAddress] = useSearchParams();
  const filter = useMemo(() => filterOf(address), [address]);
  const query = useMemo(() => queryOf(filter), [filter]);
  const found = useAuditEntries(query);
  const entries = found.data?.pages.flatMap(({ items }) => items) ?? [];
  const set = (changes: Partial<AuditFilter>) => {
    const now = filterOf(new URLSearchParams(window.location.search));
    setAddress(addressOf({ ...now, ...changes }));
  };
  return (
    <div className={frame.page}>
      <title>Audit log · Concertina</title>
      <header className={frame.heading}>
        <h1>Audit log</h1>
        <p>What was changed, by whom, and what was refused</p>
      </header>
      <AuditFilters filter={filter} set={set} entries={entries} />
      {found.isLoadingError ? (
        <Problem error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Card
          title="Entries"
          note={
            found.isSuccess &&
            `${formatCount(entries.length)}${found.hasNextPage ? " and more" : ""}`
          }
          isFlush
          actions={
            <span className={styles.verbs}>
              <Button disabled={found.isFetching} onClick={() => void found.refetch()}>
                Read again
              </Button>
              <a
                className={styles.download}
                href={auditTable(query)}
                title="The newest 1,000 of these"
                download
              >
                Download as CSV
              </a>
            </span>
          }
        >
          {found.isPending && <SkeletonRows rows={6} height={48} />}
          {found.isSuccess && entries.length === 0 && (
            <EmptyState title="No entry is like this">
              <p>
                {countOfWishes(filter) === 0
                  ? "Nothing has been changed or refused yet."
                  : "Ask for less above, or for a longer time."}
              </p>
            </EmptyState>
          )}
          <AuditList entries={entries} onChoose={set} />
          {found.hasNextPage && (
            <div className={styles.more}>
              <Button
                disabled={found.isFetchingNextPage}
                onClick={() => void found.fetchNextPage()}
              >
                Show earlier ones
              </Button>
            </div>
          )}
        </Card>
      )}
    </div>
  );
}
