/** What can be done to all jobs that are chosen. */

import { useState } from "react";
import { useNavigate } from "react-router";

import { Button } from "../../design/Button";
import { sortedOut, type BulkAction } from "../../domain/bulk";
import { compareAddress, FEWEST, MOST } from "../../domain/comparison";
import { BulkDialog } from "./BulkDialog";
import { BULK_WORDING } from "./bulkWording";
import type { Chosen } from "./useChosen";
import styles from "./JobsPage.module.css";

const ACTIONS: readonly BulkAction[] = ["pause", "resume", "cancel", "label"];

interface BulkActionsProps {
  readonly chosen: Chosen;
  readonly onDone: () => void;
}

export function BulkActions({ chosen, onDone }: BulkActionsProps) {
  const [action, setAction] = useState<BulkAction | null>(null);
  return (
    <div className={styles.bulk} role="group" aria-label="With those chosen">
      <p role="status">
        <strong>{chosen.jobs.length} chosen</strong> {chosen.notice}
      </p>
      {ACTIONS.map((one) => {
        const { fit } = sortedOut(chosen.jobs, one);
        if (one === "resume" && fit.length === 0) return null;
        return (
          <Button
            key={one}
            look={one === "cancel" ? "danger" : "plain"}
            disabled={fit.length === 0}
            title={fit.length === 0 ? `None of them can be ${BULK_WORDING[one].done}` : undefined}
            onClick={() => {
              setAction(one);
            }}
          >
            {BULK_WORDING[one].button}
          </Button>
        );
      })}
      <CompareThem ids={chosen.jobs.map(({ id }) => id)} />
      <Button
        look="quiet"
        onClick={() => {
          chosen.set([]);
        }}
      >
        Clear
      </Button>
      {action !== null && (
        <BulkDialog
          action={action}
          jobs={chosen.jobs}
          onClose={(left) => {
            setAction(null);
            if (left === null) return;
            chosen.set(left);
            onDone();
          }}
        />
      )}
    </div>
  );
}

function CompareThem({ ids }: { readonly ids: readonly string[] }) {
  const navigate = useNavigate();
  const canBe = ids.length >= FEWEST && ids.length <= MOST;
  return (
    <Button
      disabled={!canBe}
      title={canBe ? undefined : `Choose ${FEWEST} to ${MOST} jobs to compare`}
      onClick={() => void navigate(compareAddress(ids))}
    >
      Compare
    </Button>
  );
}
