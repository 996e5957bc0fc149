/** Who is in a team, who may what there, and which keys do its programs have? */

import { useMembers, useTeam } from "../../../api/teams";
import { Problem } from "../../../design/Problem";
import { Skeleton } from "../../../design/Skeleton";
import { mayDoIt, whomToAsk } from "../../../domain/roles";
import styles from "../TeamPage.module.css";
import { Invitations } from "./Invitations";
import { Members } from "./Members";
import { RoleTable } from "./RoleTable";
import { Tokens } from "./Tokens";

export function People({ team }: { readonly team: string }) {
  const members = useMembers(team);
  const settings = useTeam(team);
  if (members.data === undefined) {
    return members.isLoadingError ? (
      <Problem error={members.error} onRetry={() => void members.refetch()} />
    ) : (
      <Skeleton height={280} />
    );
  }
  const list = members.data;
  return (
    <div className={styles.halves}>
      <div className={styles.column}>
        <Members team={team} list={list} />
        {list.may_change && <Invitations team={team} />}
        <Tokens
          team={team}
          mayManage={mayDoIt(list, "manage_tokens")}
          isAdmin={mayDoIt(list, "administer")}
          whomToAsk={whomToAsk(list.items)}
        />
      </div>
      <div className={styles.column}>
        <RoleTable team={team} list={list} sharesJobs={settings.data?.members_change_all_jobs} />
      </div>
    </div>
  );
}
