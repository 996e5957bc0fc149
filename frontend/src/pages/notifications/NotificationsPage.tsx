/** Who is told of what happens to the jobs of all teams? */

import { useSession } from "../../api/session";
import { EmptyState } from "../../design/EmptyState";
import frame from "../../design/Page.module.css";
import { Webhooks } from "./Webhooks";

export default function NotificationsPage() {
  const user = useSession().data?.user;
  return (
    <div className={frame.page}>
      <title>Notifications · Concertina</title>
      <header className={frame.heading}>
        <h1>Notifications</h1>
        <p>of the jobs of all teams</p>
      </header>
      {user?.is_admin === true ? (
        <Webhooks team={null} mayManage whomToAsk="" />
      ) : (
        <EmptyState title="Only admins say who is told of all jobs">
          <p>Who is told of a team&apos;s jobs stands on its page, under Notifications.</p>
        </EmptyState>
      )}
    </div>
  );
}
