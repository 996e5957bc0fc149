/** Who is signed in, the way to their teams, and the way out. */

import { Fragment } from "react";
import { Link } from "react-router";

import { useSignOut } from "../api/session";
import type { Session } from "../api/types";
import { Button } from "../design/Button";
import styles from "./UserMenu.module.css";

export function UserMenu({ user }: { readonly user: Session["user"] }) {
  const signOut = useSignOut();
  return (
    <div className={styles.user}>
      <span className={styles.who}>
        <Link className={styles.name} to="/account" title="Your account and tokens">
          {user.username}
        </Link>
        <span className={styles.role}>
          {user.is_admin ? "Administrator" : <Teams names={user.teams} />}
        </span>
      </span>
      <Button
        look="quiet"
        disabled={signOut.isPending}
        onClick={() => {
          signOut.mutate();
        }}
      >
        Sign out
      </Button>
    </div>
  );
}

function Teams({ names }: { readonly names: readonly string[] }) {
  return names.map((name, place) => (
    <Fragment key={name}>
      {place > 0 && ", "}
      <Link to={`/teams/${name}`}>{name}</Link>
    </Fragment>
  ));
}
