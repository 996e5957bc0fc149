/** What did a team use, borrow and lend, by day, and who of it? A receipt, to be sent and kept. */

import { useMemo } from "react";
import { Link, useSearchParams } from "react-router";

import { gpuHoursAddress, useGpuHours } from "../../../api/gpuHours";
import { useTheHour } from "../../../design/now";
import { LATEST, monthOf } from "../../../domain/monthReport";
import { dayText, periodOf } from "../../../domain/usagePeriod";
import { Budget } from "./Budget";
import { Fairness } from "./Fairness";
import { GpuHoursByDay } from "./GpuHoursByDay";
import { ByJob, ByLabel, ByPerson, ByPool } from "./GpuHoursTables";
import { GuaranteeWorth } from "./GuaranteeWorth";
import { PeriodMenu } from "./PeriodMenu";
import { Totals } from "./Totals";
import styles from "./Usage.module.css";

/** Of the month that is shown; else of the one that was over last. */
function reportOf(address: URLSearchParams): string {
  const month = monthOf(address.get("month") ?? undefined);
  return month === LATEST ? "" : `/${month}`;
}

export function UsageReceipt({ team }: { readonly team: string }) {
  const [address] = useSearchParams();
  const today = dayText(new Date(useTheHour()));
  const period = useMemo(() => periodOf(address, today), [address, today]);
  const asked = { team, by: period.by, period };
  const usage = useGpuHours(asked);
  return (
    <>
      <Budget team={team} />
      <div className={styles.tools}>
        <PeriodMenu period={period} today={today} />
        <span className={styles.actions}>
          <Link className={styles.download} to={`/teams/${team}/report${reportOf(address)}`}>
            Report of the month
          </Link>
          <a
            className={styles.download}
            href={gpuHoursAddress({ ...asked, by: `${period.by},user,pool` })}
            download
          >
            Download as CSV
          </a>
        </span>
      </div>
      <Totals usage={usage.data} />
      <Fairness team={team} period={period} />
      <GpuHoursByDay team={team} period={period} usage={usage} />
      <div className={styles.halves}>
        <ByPerson team={team} period={period} />
        <ByLabel team={team} period={period} />
        <ByJob team={team} period={period} />
        <ByPool team={team} period={period} />
      </div>
      <GuaranteeWorth team={team} />
    </>
  );
}
