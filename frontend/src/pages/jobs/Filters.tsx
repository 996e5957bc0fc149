/** Which jobs are looked for: one line of fields, behind a button where there is no room for it. */

import { useState } from "react";

import { usePools, useTeams } from "../../api/cluster";
import { useSession } from "../../api/session";
import { StateBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { SelectField, TextField } from "../../design/Field";
import { Menu } from "../../design/Menu";
import { countOfWishes, EVERY_JOB, withLabel, type JobFilter } from "../../domain/jobFilter";
import { STATES } from "../../domain/states";
import { TimeMenu } from "./TimeMenu";
import type { JobAddress } from "./useJobAddress";
import styles from "./Filters.module.css";

interface FiltersProps {
  readonly address: JobAddress;
  readonly people: readonly string[];
  readonly labels: readonly string[];
}

export function Filters({ address: { filter, change }, people, labels }: FiltersProps) {
  const [isOpen, setIsOpen] = useState(false);
  const me = useSession().data?.user.username ?? "";
  const teams = useTeams().data?.items ?? [];
  const pools = usePools().data?.items ?? [];
  const wishes = countOfWishes(filter);
  const set = (changes: Partial<JobFilter>) => {
    change((now) => ({ ...now, ...changes }));
  };
  return (
    <search className={styles.filters} data-open={isOpen}>
      <div className={styles.search}>
        <TextField
          label="Search jobs"
          type="search"
          placeholder="Name, label or id"
          value={filter.search}
          onChange={(search) => {
            set({ search });
          }}
        />
        <div className={styles.more}>
          <Button
            aria-expanded={isOpen}
            onClick={() => {
              setIsOpen(!isOpen);
            }}
          >
            Filter{wishes > 0 && ` (${wishes})`}
          </Button>
        </div>
      </div>
      <div className={styles.fields}>
        <Button
          aria-pressed={filter.user === me && me !== ""}
          onClick={() => {
            change((now) => ({ ...now, user: now.user === me ? "" : me }));
          }}
        >
          Mine
        </Button>
        <StateMenu filter={filter} change={change} />
        <SelectField
          label="Team"
          all="All teams"
          value={filter.team}
          options={teams.filter((team) => team.is_mine).map((team) => team.name)}
          onChange={(team) => {
            set({ team });
          }}
        />
        <TextField
          label="Person or token"
          placeholder="Person"
          value={filter.user}
          suggestions={people}
          onChange={(user) => {
            set({ user });
          }}
        />
        <LabelField labels={labels} change={change} />
        {(pools.length > 1 || filter.pool !== "") && (
          <SelectField
            label="Pool"
            all="All pools"
            value={filter.pool}
            options={pools.map(({ name }) => name)}
            onChange={(pool) => {
              set({ pool });
            }}
          />
        )}
        {filter.array !== "" && (
          <Button
            aria-label={`No longer only of array ${filter.array}`}
            aria-pressed
            onClick={() => {
              set({ array: "" });
            }}
          >
            <span className={styles.label}>array {filter.array}</span> ×
          </Button>
        )}
        <TimeMenu filter={filter} set={set} />
        {filter.labels.map((label) => (
          <Button
            key={label}
            aria-label={`No longer only with label ${label}`}
            aria-pressed
            onClick={() => {
              change((now) => ({ ...now, labels: now.labels.filter((one) => one !== label) }));
            }}
          >
            <span className={styles.label}>{label}</span> ×
          </Button>
        ))}
        {wishes > 0 && (
          <Button
            look="quiet"
            onClick={() => {
              change(({ order }) => ({ ...EVERY_JOB, order }));
            }}
          >
            Clear all
          </Button>
        )}
      </div>
    </search>
  );
}

type Changes = Pick<JobAddress, "change">;

/** Labels add up, so the field is empty again once one was taken. */
function LabelField({ labels, change }: Changes & { readonly labels: readonly string[] }) {
  return (
    <TextField
      label="Label, as NAME=VALUE or NAME"
      placeholder="Label"
      value=""
      suggestions={labels}
      onChange={(label) => {
        change((now) => withLabel(now, label));
      }}
    />
  );
}

function StateMenu({ filter, change }: Changes & { readonly filter: JobFilter }) {
  const { states } = filter;
  const label =
    states.length === 0
      ? "State"
      : states.length <= 2
        ? states.join(", ")
        : `${states.length} states`;
  return (
    <Menu label={label} name="States" isSet={states.length > 0}>
      <ul className={styles.states}>
        {STATES.map((state) => (
          <li key={state}>
            <label>
              <input
                type="checkbox"
                checked={states.includes(state)}
                onChange={({ target }) => {
                  change((now) => ({
                    ...now,
                    states: STATES.filter((one) =>
                      one === state ? target.checked : now.states.includes(one),
                    ),
                  }));
                }}
              />
              <StateBadge state={state} />
            </label>
          </li>
        ))}
      </ul>
    </Menu>
  );
}
