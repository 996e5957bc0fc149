/** What have the specs of the team's jobs to be like? Its rules, and those of teams above. */

import { useState } from "react";

import { useRules } from "../../../api/rules";
import type { TeamRules } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { SkeletonRows } from "../../../design/Skeleton";
import { rulesInWords } from "../../../domain/rules";
import { RulesForm } from "./RulesForm";
import styles from "./Rules.module.css";

export function Rules({ team }: { readonly team: string }) {
  const rules = useRules(team);
  const [isAsked, setAsked] = useState(false);
  const found = rules.data;
  return (
    <Card
      title="Rules of specs"
      note="for jobs of the team and of teams below it"
      isFlush
      actions={
        found?.may_change === true && (
          <Button
            onClick={() => {
              setAsked(true);
            }}
          >
            Change rules
          </Button>
        )
      }
    >
      {rules.isPending && <SkeletonRows rows={2} height={40} />}
      {rules.isLoadingError && <Problem error={rules.error} onRetry={() => void rules.refetch()} />}
      {found !== undefined && <RuleTable found={found} />}
      {found !== undefined && isAsked && (
        <RulesForm
          found={found}
          onClose={() => {
            setAsked(false);
          }}
        />
      )}
    </Card>
  );
}

function RuleTable({ found }: { readonly found: TeamRules }) {
  const rows = [{ team: found.team, rules: found.rules }, ...found.above].flatMap(
    ({ team, rules }) => rulesInWords(rules).map((rule) => ({ team, ...rule })),
  );
  if (rows.length === 0) {
    return (
      <EmptyState title="No rules">
        <p>
          Rules give defaults to specs, bound them, and say which labels, pools and modes their jobs
          have.{!found.may_change && " A lead of the team sets them."}
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      <table className={styles.rules} aria-label="Rules of specs">
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Says</th>
            <th scope="col">Of team</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ team, name, says }) => (
            <tr key={`${team} ${name}`}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>{says}</td>
              <td>{team}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.is_locked && (
        <p className={styles.note}>
          The rules of team {found.team} are locked: admins change them, and leads of a team above.
        </p>
      )}
    </>
  );
}
