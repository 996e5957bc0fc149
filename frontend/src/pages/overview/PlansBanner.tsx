/** Are plans applied? Nothing at all while they are, and no job is left out of them. */

import { useHealth } from "../../api/cluster";
import type { Plans } from "../../api/types";
import { RelativeTime } from "../../design/Time";
import { countOfLeftOut } from "../../domain/plans";
import styles from "./PlansBanner.module.css";

export function PlansBanner() {
  const plans = useHealth().data?.plans;
  return plans ? <PlansNotice plans={plans} /> : null;
}

export function PlansNotice({ plans }: { readonly plans: Plans }) {
  const leftOut = countOfLeftOut(plans.jobs_left_out);
  if (plans.are_applied && leftOut === null) return null;
  return (
    <div role="alert" className={styles.notices}>
      {!plans.are_applied && (
        <p className={styles.alarm}>
          {plans.message}
          {plans.since !== null && (
            <>
              {" "}
              It began <RelativeTime at={plans.since} />.
            </>
          )}
        </p>
      )}
      {leftOut !== null && <p>{leftOut}</p>}
    </div>
  );
}
