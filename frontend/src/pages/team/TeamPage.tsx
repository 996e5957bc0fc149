/** What does a team keep for its jobs, and what may they run? */

import { useParams } from "react-router";

import { useTeams } from "../../api/cluster";
import { NotFoundPage } from "../../app/NotFoundPage";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { TeamMark } from "../../design/TeamMark";
import { plural } from "../../domain/format";
import { Images } from "./Images";
import { Models } from "./Models";
import { Retention } from "./Retention";
import { Secrets } from "./Secrets";
import { Storage } from "./Storage";
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
  return (
    <div className={styles.page} key={name}>
      <title>{`Team ${name} · Concertina`}</title>
      <header className={styles.heading}>
        <h1>
          <TeamMark team={name} />
        </h1>
        <p>
          {plural(team.running_jobs, "job")} running, {team.waiting_jobs} waiting
        </p>
      </header>
      <Secrets team={name} />
      <Models team={name} />
      <Images team={name} />
      <Storage team={name} />
      <Retention team={name} />
    </div>
  );
}
