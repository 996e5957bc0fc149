/** How does a team stand, what did it use, who is in it, and what does it keep for its jobs? */

import { Link, Route, Routes, useParams } from "react-router";

import { useTeams } from "../../api/cluster";
import { NotFoundPage } from "../../app/NotFoundPage";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { Tabs } from "../../design/Tabs";
import { TeamMark } from "../../design/TeamMark";
import { plural } from "../../domain/format";
import { Now } from "./Now";
import { MonthReport } from "./report/MonthReport";
import { People } from "./people/People";
import { TeamNotifications } from "./TeamNotifications";
import { Setup } from "./Setup";
import { UsageReceipt } from "./usage/UsageReceipt";
import styles from "./TeamPage.module.css";

export default function TeamPage() {
  const { name = "" } = useParams();
  const teams = useTeams();
  if (teams.data === undefined) {
    return teams.isLoadingError ? (
      <Problem error={teams.error} onRetry={() => void teams.refetch()} />
    ) : (
      <Skeleton height={280} />
    );
  }
  const team = teams.data.items.find((one) => one.name === name);
  if (!team?.is_mine) return <NotFoundPage what="team" />;
  const here = `/teams/${name}`;
  return (
    <div className={frame.page} key={name}>
      <title>{`Team ${name} · Concertina`}</title>
      <header className={frame.heading}>
        <h1>
          <TeamMark team={name} />
        </h1>
        <p>
          {plural(team.running_jobs, "job")} running, {team.waiting_jobs} waiting
          {team.parent !== null && ` · below team ${team.parent}`}
        </p>
        <Link to={`/jobs?team=${name}`} className={styles.jobs} data-screen-only>
          All its jobs
        </Link>
      </header>
      <Tabs
        label={`Team ${name}`}
        tabs={[
          { to: here, text: "Now" },
          { to: `${here}/usage`, text: "Usage" },
          { to: `${here}/people`, text: "People and tokens" },
          { to: `${here}/notifications`, text: "Notifications" },
          { to: `${here}/setup`, text: "Secrets, rules, storage" },
        ]}
      />
      <Routes>
        <Route index element={<Now team={name} />} />
        <Route path="usage" element={<UsageReceipt team={name} />} />
        <Route path="report/*" element={<MonthReport team={name} />} />
        <Route path="people" element={<People team={name} />} />
        <Route path="notifications" element={<TeamNotifications team={name} />} />
        <Route path="setup" element={<Setup team={name} />} />
        <Route path="*" element={<NotFoundPage />} />
      </Routes>
    </div>
  );
}
