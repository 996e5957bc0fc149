/** Who is told of what happens to the team's jobs? */

import { useMembers } from "../../api/teams";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { mayDoIt, whomToAsk } from "../../domain/roles";
import { Webhooks } from "../notifications/Webhooks";

export function TeamNotifications({ team }: { readonly team: string }) {
  const members = useMembers(team);
  if (members.data === undefined) {
    return members.isLoadingError ? (
      <Problem error={members.error} onRetry={() => void members.refetch()} />
    ) : (
      <Skeleton height={160} />
    );
  }
  return (
    <Webhooks
      team={team}
      mayManage={mayDoIt(members.data, "manage_webhooks")}
      whomToAsk={whomToAsk(members.data.items)}
    />
  );
}
