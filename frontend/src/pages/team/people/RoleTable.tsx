/** What may each role do in a team, and what may its reader? */

import { useShareJobs } from "../../../api/teams";
import type { MemberList } from "../../../api/types";
import { Card } from "../../../design/Card";
import { Question } from "../../../design/Question";
import { mayDo, mayDoIt, ROLES } from "../../../domain/roles";
import styles from "./RoleTable.module.css";

interface RoleTableProps {
  readonly team: string;
  readonly list: MemberList;
  /** Whether members change each other's jobs; undefined: not known yet. */
  readonly sharesJobs: boolean | undefined;
}

export function RoleTable({ team, list, sharesJobs }: RoleTableProps) {
  return (
    <Card title="Who may what" note="admins may do everything" isFlush>
      <table className={styles.table}>
        <caption className="visually-hidden">What each role may do in the team</caption>
        <thead>
          <tr>
            <th scope="col">In the team</th>
            {ROLES.map(({ role }) => (
              <th key={role} scope="col">
                {role}
              </th>
            ))}
            <th scope="col" data-mine="true">
              you
            </th>
          </tr>
        </thead>
        <tbody>
          {list.permissions.map((permission) => (
            <tr key={permission.permission}>
              <th scope="row">{permission.meaning}</th>
              {ROLES.map(({ role }) => (
                <Mark key={role} isSet={mayDo(permission, role, sharesJobs ?? false)} />
              ))}
              <Mark isSet={mayDoIt(list, permission.permission)} isMine />
            </tr>
          ))}
        </tbody>
      </table>
      {sharesJobs !== undefined && (
        <Sharing team={team} sharesJobs={sharesJobs} mayChange={mayDoIt(list, "manage_members")} />
      )}
    </Card>
  );
}

function Mark({ isSet, isMine = false }: { readonly isSet: boolean; readonly isMine?: boolean }) {
  return (
    <td data-mine={isMine}>
      <span aria-hidden="true">{isSet ? "●" : "·"}</span>
      <span className="visually-hidden">{isSet ? "yes" : "no"}</span>
    </td>
  );
}

interface SharingProps {
  readonly team: string;
  readonly sharesJobs: boolean;
  readonly mayChange: boolean;
}

function Sharing({ team, sharesJobs, mayChange }: SharingProps) {
  const call = useShareJobs(team);
  return (
    <div className={styles.sharing}>
      <p>
        {sharesJobs
          ? "Members of this very team change all of its jobs."
          : "Members change only the jobs that they submitted."}
      </p>
      {mayChange && (
        <Question
          button={sharesJobs ? "Only their own" : "Let them change all"}
          title={sharesJobs ? "Only their own jobs?" : "Let members change all jobs?"}
          consequence={
            sharesJobs
              ? `Members of ${team} will change, pause, cancel and delete only jobs that they submitted.`
              : `Each member of ${team} will be able to change, pause, cancel and delete the jobs of all others.`
          }
          isDanger={false}
          call={call}
          onConfirm={(close) => {
            call.mutate(!sharesJobs, { onSuccess: close });
          }}
        />
      )}
    </div>
  );
}
