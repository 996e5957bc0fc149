/** The pages that somebody comes to now and then, in a menu at the end of the bar's. */

import { NavLink } from "react-router";

import type { Session } from "../api/types";
import { Menu } from "../design/Menu";
import styles from "./MorePages.module.css";

export function MorePages({ user }: { readonly user: Session["user"] }) {
  return (
    <div className={styles.more}>
      <Menu label="More" name="More pages">
        <ul className={styles.pages}>
          <li>
            <NavLink to="/simulations">Simulations</NavLink>
          </li>
          <li>
            <NavLink to="/audit">Audit log</NavLink>
          </li>
          {user.is_admin && (
            <li>
              <NavLink to="/notifications">Notifications</NavLink>
            </li>
          )}
          <li>
            <NavLink to="/settings">Settings</NavLink>
          </li>
          <li>
            <a href="/api/v1/docs">API</a>
          </li>
          {user.is_admin && (
            <li>
              <a href="/admin/">Admin</a>
            </li>
          )}
        </ul>
      </Menu>
    </div>
  );
}
