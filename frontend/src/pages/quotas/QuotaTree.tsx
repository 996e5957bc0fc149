/** The teams of a pool, one below the other, each with what it is guaranteed, to be changed. */

import { useId } from "react";

import { ShareBar } from "../../design/ShareBar";
import { TeamMark } from "../../design/TeamMark";
import { formatGpus } from "../../domain/format";
import { gpusOf, type QuotaDraft, type TeamRow } from "../../domain/quotas";
import styles from "./QuotasPage.module.css";

interface QuotaTreeProps {
  readonly rows: readonly TeamRow[];
  readonly gpusTotal: number;
  readonly draft: QuotaDraft;
  /** What is wrong with a team's guarantee, by team. */
  readonly problems: ReadonlyMap<string, string>;
  readonly mayChange: (row: TeamRow) => boolean;
  readonly onChange: (team: string, text: string) => void;
}

export function QuotaTree({ rows, mayChange, ...rest }: QuotaTreeProps) {
  return (
    <ul className={styles.tree}>
      {rows.map((row) => (
        <Team key={row.team.name} row={row} isOpen={mayChange(row)} {...rest} />
      ))}
    </ul>
  );
}

interface TeamProps extends Omit<QuotaTreeProps, "rows" | "mayChange"> {
  readonly row: TeamRow;
  readonly isOpen: boolean;
}

function Team({ row: { team, depth }, gpusTotal, draft, problems, isOpen, onChange }: TeamProps) {
  const wrong = useId();
  const text = draft[team.name] ?? String(team.guaranteed);
  const problem =
    problems.get(team.name) ?? (gpusOf(text) === null ? "This is no number of GPUs." : "");
  const isChanged = gpusOf(text) !== team.guaranteed;
  return (
    <li className={styles.team} data-changed={isChanged} style={{ "--depth": depth }}>
      <div className={styles.name}>
        <TeamMark team={team.name} />
        <small>
          holds {formatGpus(team.allocated)}
          {team.limit !== null && `, at most ${String(team.limit)}`}
        </small>
      </div>
      <div className={styles.share}>
        <ShareBar
          team={{ ...team, guaranteed: gpusOf(text) ?? team.guaranteed }}
          gpusTotal={gpusTotal}
        />
      </div>
      <div className={styles.guarantee}>
        {isOpen ? (
          <input
            aria-label={`GPUs guaranteed to ${team.name}`}
            aria-invalid={problem !== ""}
            aria-describedby={wrong}
            inputMode="numeric"
            autoComplete="off"
            maxLength={6}
            value={text}
            onChange={({ target }) => {
              onChange(team.name, target.value);
            }}
          />
        ) : (
          <strong>{team.guaranteed}</strong>
        )}
        <small>{isChanged ? `was ${String(team.guaranteed)}` : "guaranteed"}</small>
      </div>
      <p id={wrong} className={styles.refused} aria-live="polite">
        {problem}
      </p>
    </li>
  );
}
