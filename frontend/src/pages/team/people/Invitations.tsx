/** Who is invited into a team: its leads make links, have them mailed, and revoke them. */

import { useState } from "react";

import { useInvitations, useInvite, useRevokeInvitation } from "../../../api/invitations";
import type { Invitation, MadeInvitation } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { Command } from "../../../design/Command";
import { Dialog } from "../../../design/Dialog";
import { EmptyState } from "../../../design/EmptyState";
import { FormDialog, FormField } from "../../../design/FormDialog";
import { Problem } from "../../../design/Problem";
import { Question } from "../../../design/Question";
import { RelativeTime } from "../../../design/Time";
import { useNow } from "../../../design/now";
import { plural } from "../../../domain/format";
import { stateOf } from "../../../domain/invitations";
import { text } from "../../../domain/secrets";
import { RoleChoice, roleIn } from "./Members";
import styles from "../../../design/Rows.module.css";

export function Invitations({ team }: { readonly team: string }) {
  const invitations = useInvitations(team);
  const [isAsking, setIsAsking] = useState(false);
  const [made, setMade] = useState<MadeInvitation | null>(null);
  const now = useNow();
  const items = invitations.data?.items ?? [];
  const open = items.filter((one) => stateOf(one, now) === "open");
  const ended = items.filter((one) => stateOf(one, now) !== "open");
  return (
    <Card
      title="Invitations"
      isFlush
      actions={
        <Button
          onClick={() => {
            setIsAsking(true);
          }}
        >
          Invite somebody
        </Button>
      }
    >
      {invitations.isLoadingError && (
        <Problem error={invitations.error} onRetry={() => void invitations.refetch()} />
      )}
      {invitations.data && open.length === 0 && (
        <EmptyState title="Nobody is invited">
          <p>A link makes one person a member, with an account or without one.</p>
        </EmptyState>
      )}
      <ul className={styles.list} aria-label="Open invitations">
        {open.map((one) => (
          <Row key={one.id} team={team} invitation={one} />
        ))}
      </ul>
      {ended.length > 0 && (
        <details className={styles.ended}>
          <summary>{`${plural(ended.length, "invitation")} that ended`}</summary>
          <ul className={styles.list} aria-label="Invitations that ended">
            {ended.map((one) => (
              <Row key={one.id} team={team} invitation={one} />
            ))}
          </ul>
        </details>
      )}
      {isAsking && (
        <Invite
          team={team}
          sendsMail={invitations.data?.sends_mail ?? false}
          onMade={(one) => {
            setIsAsking(false);
            setMade(one);
          }}
          onClose={() => {
            setIsAsking(false);
          }}
        />
      )}
      {made && (
        <Made
          invitation={made}
          onClose={() => {
            setMade(null);
          }}
        />
      )}
    </Card>
  );
}

function Row({ team, invitation }: { readonly team: string; readonly invitation: Invitation }) {
  const state = stateOf(invitation, useNow());
  const call = useRevokeInvitation(team, invitation.id);
  const whom = invitation.mail === "" ? `${invitation.prefix}…` : invitation.mail;
  return (
    <li className={styles.row} aria-label={`Invitation ${whom}, ${state}`}>
      <div className={styles.about}>
        <p className={styles.head}>
          <strong>{whom}</strong>
          <span className={styles.role}>{invitation.role}</span>
        </p>
        <p className={styles.note}>
          by {invitation.invited_by}, <RelativeTime at={invitation.invited_at} />
          {state === "accepted" &&
            ` · accepted by ${invitation.accepted_by ?? "somebody who is gone"}`}
          {(state === "revoked" || state === "expired") && ` · ${state}`}
          {state === "open" && (
            <>
              {" · ends "}
              <RelativeTime at={invitation.expires_at} />
            </>
          )}
        </p>
      </div>
      {state === "open" && (
        <div className={styles.verbs}>
          <Question
            button="Revoke"
            label={`Revoke the invitation ${whom}`}
            title="Revoke this invitation?"
            consequence="Its link makes nobody a member any more."
            isDanger
            call={call}
            onConfirm={(close) => {
              call.mutate(undefined, { onSuccess: close });
            }}
          />
        </div>
      )}
    </li>
  );
}

interface InviteProps {
  readonly team: string;
  readonly sendsMail: boolean;
  readonly onMade: (made: MadeInvitation) => void;
  readonly onClose: () => void;
}

function Invite({ team, sendsMail, onMade, onClose }: InviteProps) {
  const call = useInvite(team);
  return (
    <FormDialog
      title={`Invite somebody into ${team}`}
      verb="Make a link"
      call={call}
      onSubmit={(form) => {
        const mail = text(form, "mail").trim();
        call.mutate({ role: roleIn(form), ...(mail !== "" && { mail }) }, { onSuccess: onMade });
      }}
      onClose={onClose}
    >
      {sendsMail && (
        <FormField label="Mail address" note="To which the link is sent. Or pass it on yourself.">
          <input name="mail" type="email" maxLength={240} autoComplete="off" />
        </FormField>
      )}
      <RoleChoice usual="member" />
    </FormDialog>
  );
}

function Made({
  invitation,
  onClose,
}: {
  readonly invitation: MadeInvitation;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="The link is made" onClose={onClose}>
      <p>
        Whoever has it becomes {invitation.role} of {invitation.team}, once, within seven days. It
        is shown only now.
      </p>
      <Command text={invitation.link} />
      {invitation.is_mailed && <p>It is on its way to {invitation.mail}.</p>}
      {invitation.mail_problem !== "" && <p role="alert">{invitation.mail_problem}</p>}
    </Dialog>
  );
}
