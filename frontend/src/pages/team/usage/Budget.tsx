/** How does a team stand with its GPU-hours of the month, and how many of its jobs may run? */

import { useState } from "react";

import { useTeam } from "../../../api/teams";
import type { TeamBudget, TeamDetail } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { Problem } from "../../../design/Problem";
import { budgetBar, budgetWords, limitsOfTeam, WHEN_USED_UP } from "../../../domain/budget";
import { formatCount } from "../../../domain/format";
import { LimitsForm } from "./LimitsForm";
import styles from "./Budget.module.css";

export function Budget({ team }: { readonly team: string }) {
  const settings = useTeam(team);
  const [isAsked, setAsked] = useState(false);
  if (settings.isLoadingError) {
    return <Problem error={settings.error} onRetry={() => void settings.refetch()} />;
  }
  const known = settings.data;
  const mayChange = (known?.may_change_limits.length ?? 0) > 0;
  if (known === undefined || !(mayChange || isLimited(known))) return null; // few teams have any
  return (
    <Card
      title="Budget and limits"
      note="months are those of UTC; teams below count as well"
      actions={
        mayChange && (
          <Button
            onClick={() => {
              setAsked(true);
            }}
          >
            Change limits
          </Button>
        )
      }
    >
      <div className={styles.budgets}>
        {known.budgets.map((one) => (
          <Bar key={one.team} budget={one} isAbove={one.team !== team} />
        ))}
        <Limits team={known} />
      </div>
      {isAsked && (
        <LimitsForm
          team={known}
          onClose={() => {
            setAsked(false);
          }}
        />
      )}
    </Card>
  );
}

function isLimited(team: TeamDetail): boolean {
  return team.budgets.length > 0 || limitsOfTeam(team).some(({ most }) => most !== null);
}

function Bar({ budget, isAbove }: { readonly budget: TeamBudget; readonly isAbove: boolean }) {
  const bar = budgetBar(budget);
  const percent = (share: number) => `${(100 * share).toFixed(2)}%`;
  return (
    <figure className={styles.budget} data-used-up={budget.is_used_up || undefined}>
      <figcaption>
        <strong>{isAbove ? `Budget of team ${budget.team} above it` : "Budget"}</strong>{" "}
        {budgetWords(budget)}
      </figcaption>
      <div className={styles.bar} role="img" aria-label={budgetWords(budget)}>
        <span className={styles.forecast} style={{ inlineSize: percent(bar.forecast) }} />
        <span className={styles.used} style={{ inlineSize: percent(bar.used) }} />
        <span className={styles.near} style={{ insetInlineStart: percent(bar.near) }} />
        <span className={styles.end} style={{ insetInlineStart: percent(bar.end) }} />
      </div>
      <p role={budget.is_used_up ? "alert" : undefined}>
        {`Its people are told at ${formatCount(budget.near_gpu_hours)} GPU-hours. When all are used up, ${WHEN_USED_UP[budget.then]}.`}
      </p>
    </figure>
  );
}

function Limits({ team }: { readonly team: TeamDetail }) {
  const limits = limitsOfTeam(team).filter(({ name }) => name !== "gpu_hours_per_month");
  return (
    <dl className={styles.limits}>
      {limits.map(({ name, label, most }) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd>{most === null ? "no limit" : `at most ${formatCount(most)}`}</dd>
        </div>
      ))}
    </dl>
  );
}
