/** What surrounds every page: the bar at the top, and the way to everything. */

import { Suspense } from "react";
import { Link, NavLink, Outlet, useLocation } from "react-router";

import type { Session } from "../api/types";
import { useEventFeed } from "../api/useEventFeed";
import { useSessionWatch } from "./sessionWatch";
import { Logo } from "./Logo";
import { Notices } from "./Notices";
import { MorePages } from "./MorePages";
import { GoTo } from "./palette/GoTo";
import { ThemeSwitch } from "./ThemeSwitch";
import { UserMenu } from "./UserMenu";
import { useScrollToTop } from "./useScrollToTop";
import styles from "./Shell.module.css";

export function Shell({ user, notices }: Session) {
  useSessionWatch(user.username);
  useEventFeed();
  useScrollToTop();
  const { pathname } = useLocation();
  return (
    <div className={styles.shell}>
      <a href="#content" className={styles.skip} data-screen-only>
        Skip to content
      </a>
      <header className={styles.bar} data-screen-only>
        <Link to="/" className={styles.brand} aria-label="Concertina, to the overview">
          <Logo />
          <span className={styles.name}>Concertina</span>
        </Link>
        <nav aria-label="Main" className={styles.nav}>
          <NavLink to="/" end>
            Overview
          </NavLink>
          <NavLink to="/jobs">Jobs</NavLink>
          <NavLink to="/cluster">Cluster</NavLink>
          <NavLink to="/autoscaler">Autoscaler</NavLink>
          <NavLink to="/quotas">Quotas</NavLink>
          <MorePages key={pathname} user={user} />
        </nav>
        <div className={styles.tools}>
          <GoTo user={user} />
          <ThemeSwitch />
          <UserMenu user={user} />
        </div>
      </header>
      <Notices notices={notices} />
      <main id="content" className={styles.content} tabIndex={-1}>
        <Suspense>
          <Outlet />
        </Suspense>
      </main>
    </div>
  );
}
