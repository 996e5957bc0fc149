/** Which entries are looked for: who, what, about what, how it ended, and when. */

import { useTeams } from "../../api/cluster";
import type { AuditEntry } from "../../api/types";
import { Button } from "../../design/Button";
import { SelectField, TextField } from "../../design/Field";
import { countOfWishes, EVERY_ENTRY, OUTCOMES, type AuditFilter } from "../../domain/audit";
import styles from "./AuditPage.module.css";

interface AuditFiltersProps {
  readonly filter: AuditFilter;
  readonly set: (changes: Partial<AuditFilter>) => void;
  /** Those in sight, of whose words some are offered. */
  readonly entries: readonly AuditEntry[];
}

export function AuditFilters({ filter, set, entries }: AuditFiltersProps) {
  const teams = useTeams().data?.items ?? [];
  const offered = (word: (entry: AuditEntry) => string) =>
    [...new Set(entries.map(word))].filter((text) => text !== "").toSorted();
  return (
    <search className={styles.filters} aria-label="Entries">
      <TextField
        label="Person, or token as TEAM/NAME"
        placeholder="Person or token"
        value={filter.sender}
        suggestions={offered(({ sender }) => sender)}
        onChange={(sender) => {
          set({ sender });
        }}
      />
      <TextField
        label="Operation, such as change_quota"
        placeholder="Operation"
        value={filter.operation}
        suggestions={offered(({ operation }) => operation)}
        onChange={(operation) => {
          set({ operation });
        }}
      />
      <TextField
        label="What it was about, such as teams/vision"
        placeholder="About"
        value={filter.object}
        onChange={(object) => {
          set({ object });
        }}
      />
      <SelectField
        label="Team"
        all="All teams"
        value={filter.team}
        options={teams.filter(({ is_mine }) => is_mine).map(({ name }) => name)}
        onChange={(team) => {
          set({ team });
        }}
      />
      <SelectField
        label="Outcome"
        all="Any outcome"
        value={filter.outcome}
        options={OUTCOMES}
        onChange={(outcome) => {
          set({ outcome: OUTCOMES.find((one) => one === outcome) ?? "" });
        }}
      />
      <span className={styles.days}>
        <TextField
          label="On this day or later"
          type="date"
          value={filter.since}
          onChange={(since) => {
            set({ since });
          }}
        />
        <span>to</span>
        <TextField
          label="On this day or earlier"
          type="date"
          value={filter.until}
          onChange={(until) => {
            set({ until });
          }}
        />
      </span>
      {countOfWishes(filter) > 0 && (
        <Button
          look="quiet"
          onClick={() => {
            set(EVERY_ENTRY);
          }}
        >
          Clear all
        </Button>
      )}
    </search>
  );
}
