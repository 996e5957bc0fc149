/** Of which time are the jobs: the last hours or days, or from one day to another. */

import { TextField } from "../../design/Field";
import { Menu } from "../../design/Menu";
import type { JobFilter, Within } from "../../domain/jobFilter";
import styles from "./Filters.module.css";

const SPANS: readonly { readonly within: Within; readonly text: string }[] = [
  { within: "", text: "Any time" },
  { within: "24h", text: "Last 24 hours" },
  { within: "7d", text: "Last 7 days" },
  { within: "30d", text: "Last 30 days" },
];

interface TimeMenuProps {
  readonly filter: JobFilter;
  readonly set: (changes: Partial<JobFilter>) => void;
}

export function TimeMenu({ filter, set }: TimeMenuProps) {
  const { within, since, until } = filter;
  const isAnyTime = within === "" && since === "" && until === "";
  const verb = filter.order === "recent" ? "Ended" : "Submitted";
  return (
    <Menu label={isAnyTime ? verb : `${verb} ${inWords(filter)}`} name={verb} isSet={!isAnyTime}>
      <ul className={styles.states}>
        {SPANS.map((span) => (
          <li key={span.within}>
            <label>
              <input
                type="radio"
                name="within"
                checked={span.within === "" ? isAnyTime : within === span.within}
                onChange={() => {
                  set({ within: span.within, since: "", until: "" });
                }}
              />
              {span.text}
            </label>
          </li>
        ))}
      </ul>
      <div className={styles.days}>
        <span>From</span>
        <TextField
          label={`${verb} on this day or later`}
          type="date"
          value={since}
          onChange={(day) => {
            set({ since: day, within: "" });
          }}
        />
        <span>to</span>
        <TextField
          label={`${verb} on this day or earlier`}
          type="date"
          value={until}
          onChange={(day) => {
            set({ until: day, within: "" });
          }}
        />
      </div>
    </Menu>
  );
}

function inWords({ within, since, until }: JobFilter): string {
  const span = SPANS.find((one) => one.within === within && within !== "");
  if (span !== undefined) return span.text.replace("Last", "in the last");
  if (until === "") return `since ${since}`;
  return since === "" ? `until ${until}` : `${since} to ${until}`;
}
