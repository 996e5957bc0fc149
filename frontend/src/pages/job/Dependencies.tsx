/** For which jobs does this one wait, and which wait for it? Each leads to its page. */

import { Link } from "react-router";

import { useDependencies } from "../../api/jobs";
import type { Dependency, JobDetail } from "../../api/types";
import { StateBadge } from "../../design/Badge";
import { Card } from "../../design/Card";
import { endOf, goneOf, hasDependencies, moreThatWait } from "../../domain/dependencies";
import { plural } from "../../domain/format";
import { isFinal } from "../../domain/states";
import styles from "./Dependencies.module.css";

export function Dependencies({ job }: { readonly job: JobDetail }) {
  const known = useDependencies(job.id, !isFinal(job.state)).data;
  if (!hasDependencies(known)) return null;
  const more = moreThatWait(known);
  return (
    <Card title="Dependencies">
      <div className={styles.ways}>
        {known.waits_for.length > 0 && (
          <section aria-label="Waits for">
            <h3>Starts after</h3>
            <ul className={styles.jobs}>
              {known.waits_for.map((one) => (
                <li key={one.job_id}>
                  <Other one={one} /> <span>{endOf(one)}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
        {known.awaited_by.length > 0 && (
          <section aria-label="Awaited by">
            <h3>Awaited by</h3>
            <ul className={styles.jobs}>
              {known.awaited_by.map((one) => (
                <li key={one.job_id}>
                  <Other one={one} />
                </li>
              ))}
              {more > 0 && <li>and {plural(more, "other")}</li>}
            </ul>
          </section>
        )}
      </div>
    </Card>
  );
}

function Other({ one }: { readonly one: Dependency }) {
  if (one.state === "") {
    return (
      <>
        {one.name} ({goneOf(one)})
      </>
    );
  }
  return (
    <>
      <Link to={`/jobs/${one.job_id}`}>{one.name}</Link> <StateBadge state={one.state} />
    </>
  );
}
