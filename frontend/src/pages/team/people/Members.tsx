/** The people of a team with their roles, which its leads change. */

import { useState } from "react";

import { useAddMember, useChangeMember, useRemoveMember } from "../../../api/teams";
import type { MemberList, RoleName, TeamMember } from "../../../api/types";
import { useSession } from "../../../api/session";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { FormDialog, FormField } from "../../../design/FormDialog";
import { Question } from "../../../design/Question";
import { formatCount } from "../../../domain/format";
import { placeOf, ROLES, whomToAsk } from "../../../domain/roles";
import { text } from "../../../domain/secrets";
import styles from "../../../design/Rows.module.css";

interface MembersProps {
  readonly team: string;
  readonly list: MemberList;
}

export function Members({ team, list }: MembersProps) {
  const [isAdding, setIsAdding] = useState(false);
  const { items, may_change: mayChange } = list;
  return (
    <Card
      title="People"
      note={items.length > 0 && countOf(items)}
      isFlush
      actions={
        mayChange && (
          <Button
            look="primary"
            onClick={() => {
              setIsAdding(true);
            }}
          >
            Add somebody
          </Button>
        )
      }
    >
      {items.length === 0 && (
        <EmptyState title="Nobody has a role here yet">
          <p>{mayChange ? "Add somebody who has an account." : whomToAsk(items)}</p>
        </EmptyState>
      )}
      <ul className={styles.list} aria-label="People">
        {items.map((member) => (
          <Member
            key={`${member.team}/${member.name}`}
            team={team}
            member={member}
            mayChange={mayChange && member.team === team}
          />
        ))}
      </ul>
      {isAdding && (
        <AddMember
          team={team}
          onClose={() => {
            setIsAdding(false);
          }}
        />
      )}
    </Card>
  );
}

function countOf(items: readonly TeamMember[]): string {
  const people = new Set(items.map(({ name }) => name)).size;
  return `${formatCount(people)} ${people === 1 ? "person" : "people"}`;
}

interface MemberProps {
  readonly team: string;
  readonly member: TeamMember;
  readonly mayChange: boolean;
}

function Member({ team, member, mayChange }: MemberProps) {
  const isMe = useSession().data?.user.username === member.name;
  const place = placeOf(member, team);
  return (
    <li className={styles.row} aria-label={`${member.name}, ${member.role}`}>
      <div className={styles.about}>
        <p className={styles.head}>
          <strong>{member.name}</strong>
          <span className={styles.role}>{member.role}</span>
          {isMe && <span className={styles.note}>you</span>}
          {member.from_provider && (
            <span className={styles.note}>by a group of the identity provider</span>
          )}
        </p>
        {place !== "" && <p className={styles.note}>{place}</p>}
      </div>
      {mayChange && (
        <div className={styles.verbs}>
          <ChangeRole team={team} member={member} />
          <Removal team={team} member={member} isMe={isMe} />
        </div>
      )}
    </li>
  );
}

function ChangeRole({ team, member }: { readonly team: string; readonly member: TeamMember }) {
  const [isOpen, setIsOpen] = useState(false);
  const call = useChangeMember(team, member.name);
  const close = () => {
    setIsOpen(false);
    call.reset();
  };
  return (
    <>
      <Button
        aria-label={`Change the role of ${member.name}`}
        onClick={() => {
          setIsOpen(true);
        }}
      >
        Change
      </Button>
      {isOpen && (
        <FormDialog
          title={`Role of ${member.name}`}
          verb="Change role"
          call={call}
          onSubmit={(form) => {
            call.mutate(roleIn(form), { onSuccess: close });
          }}
          onClose={close}
        >
          <RoleChoice usual={member.role} />
        </FormDialog>
      )}
    </>
  );
}

interface RemovalProps {
  readonly team: string;
  readonly member: TeamMember;
  readonly isMe: boolean;
}

function Removal({ team, member, isMe }: RemovalProps) {
  const call = useRemoveMember(team, member.name);
  return (
    <Question
      button="Remove"
      label={`Remove ${member.name}`}
      title={`Remove ${member.name} from ${team}?`}
      consequence={
        isMe
          ? "You see nothing of the team within seconds. Your jobs go on, and leads change them."
          : "They see nothing of the team within seconds. Their jobs go on, and leads change them. Tokens that they made stay."
      }
      isDanger
      call={call}
      onConfirm={(close) => {
        call.mutate(undefined, { onSuccess: close });
      }}
    />
  );
}

function AddMember({ team, onClose }: { readonly team: string; readonly onClose: () => void }) {
  const call = useAddMember(team);
  return (
    <FormDialog
      title={`Add somebody to ${team}`}
      verb="Add"
      call={call}
      onSubmit={(form) => {
        const name = text(form, "name").trim();
        call.mutate({ name, role: roleIn(form) }, { onSuccess: onClose });
      }}
      onClose={onClose}
    >
      <FormField label="User name" note="Of an account that is there; admins make accounts.">
        <input name="name" required maxLength={150} autoCapitalize="none" spellCheck={false} />
      </FormField>
      <RoleChoice usual="member" />
    </FormDialog>
  );
}

export function RoleChoice({ usual }: { readonly usual: RoleName }) {
  return (
    <fieldset className={styles.choices}>
      <legend>Role</legend>
      {ROLES.map(({ role, meaning }) => (
        <label key={role}>
          <input type="radio" name="role" value={role} defaultChecked={role === usual} />
          <span>
            <strong>{role}</strong> {meaning}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

export function roleIn(form: FormData): RoleName {
  return ROLES.find(({ role }) => role === text(form, "role"))?.role ?? "viewer";
}
