/** Who is signed in, and the way out. */

import { useSignOut } from "../api/session";
import type { Session } from "../api/types";
import { Button } from "../design/Button";
import styles from "./UserMenu.module.css";

export function UserMenu({ user }: { readonly user: Session["user"] }) {
  const signOut = useSignOut();
  const role = user.is_admin ? "Administrator" : user.teams.join(", ");
  return (
    <div className={styles.user}>
      <span className={styles.who}>
        <span className={styles.name}>{user.username}</span>
        <span className={styles.role}>{role}</span>
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
