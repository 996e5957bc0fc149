/** Of which time is the account: the last days, a month, or from one day to another. */

import { useSearchParams } from "react-router";

import { TextField } from "../../../design/Field";
import { Menu } from "../../../design/Menu";
import { addressOfPeriod, monthsBefore, type UsagePeriod } from "../../../domain/usagePeriod";
import filters from "../../jobs/Filters.module.css";

interface PeriodMenuProps {
  readonly period: UsagePeriod;
  readonly today: string;
}

export function PeriodMenu({ period, today }: PeriodMenuProps) {
  const [address, setAddress] = useSearchParams();
  const chosen = address.get("month") ?? "";
  const [since, until] = [address.get("since") ?? "", address.get("until") ?? ""];
  const change = (wanted: Parameters<typeof addressOfPeriod>[1]) => {
    setAddress(addressOfPeriod(new URLSearchParams(window.location.search), wanted));
  };
  const months = [{ month: "", text: "Last 30 days" }, ...monthsBefore(today)];
  return (
    <Menu label={period.text} name="Period" isSet={chosen !== "" || since !== "" || until !== ""}>
      <ul className={filters.states}>
        {months.map(({ month, text }) => (
          <li key={month}>
            <label>
              <input
                type="radio"
                name="month"
                checked={month === chosen && since === "" && until === ""}
                onChange={() => {
                  change({ month });
                }}
              />
              {text}
            </label>
          </li>
        ))}
      </ul>
      <div className={filters.days}>
        <span>From</span>
        <TextField
          label="From this day on"
          type="date"
          value={since}
          onChange={(day) => {
            change({ since: day, until });
          }}
        />
        <span>to</span>
        <TextField
          label="Until this day"
          type="date"
          value={until}
          onChange={(day) => {
            change({ since, until: day });
          }}
        />
      </div>
    </Menu>
  );
}
