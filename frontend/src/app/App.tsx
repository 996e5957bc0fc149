/** Which address shows which page, and to whom? */

import { lazy, Suspense } from "react";
import { BrowserRouter, Navigate, Route, Routes, useLocation } from "react-router";

import { useSession } from "../api/session";
import { Problem } from "../design/Problem";
import { LoginPage } from "../pages/login/LoginPage";
import { OverviewPage } from "../pages/overview/OverviewPage";
import { ConnectionBanner } from "./ConnectionBanner";
import { NotFoundPage } from "./NotFoundPage";
import { Shell } from "./Shell";

/** What is not the overview is loaded when somebody comes to it. */
const AccountPage = lazy(() => import("../pages/account/AccountPage"));
const AuditPage = lazy(() => import("../pages/audit/AuditPage"));
const AutoscalerPage = lazy(() => import("../pages/autoscaler/AutoscalerPage"));
const ClusterPage = lazy(() => import("../pages/cluster/ClusterPage"));
const ComparePage = lazy(() => import("../pages/compare/ComparePage"));
const DevicePage = lazy(() => import("../pages/device/DevicePage"));
const InvitationPage = lazy(() => import("../pages/invitation/InvitationPage"));
const JobPage = lazy(() => import("../pages/job/JobPage"));
const JobsPage = lazy(() => import("../pages/jobs/JobsPage"));
const NotificationsPage = lazy(() => import("../pages/notifications/NotificationsPage"));
const QuotasPage = lazy(() => import("../pages/quotas/QuotasPage"));
const SettingsPage = lazy(() => import("../pages/settings/SettingsPage"));
const SimulationPage = lazy(() => import("../pages/simulations/SimulationPage"));
const SimulationsPage = lazy(() => import("../pages/simulations/SimulationsPage"));
const SubmitPage = lazy(() => import("../pages/submit/SubmitPage"));
const SweepPage = lazy(() => import("../pages/sweeps/SweepPage"));
const SweepsPage = lazy(() => import("../pages/sweeps/SweepsPage"));
const TeamPage = lazy(() => import("../pages/team/TeamPage"));

export function App() {
  return (
    <BrowserRouter>
      <ConnectionBanner />
      <Routes>
        <Route path="/login" element={<LoginPage />} />
        <Route
          path="/invitation"
          element={
            <Suspense fallback={null}>
              <InvitationPage />
            </Suspense>
          }
        />
        <Route element={<SignedIn />}>
          <Route index element={<OverviewPage />} />
          <Route path="jobs" element={<JobsPage />} />
          <Route path="jobs/:id" element={<JobPage />} />
          <Route path="account" element={<AccountPage />} />
          <Route path="audit" element={<AuditPage />} />
          <Route path="autoscaler" element={<AutoscalerPage />} />
          <Route path="cluster" element={<ClusterPage />} />
          <Route path="compare" element={<ComparePage />} />
          <Route path="device" element={<DevicePage />} />
          <Route path="notifications" element={<NotificationsPage />} />
          <Route path="quotas" element={<QuotasPage />} />
          <Route path="settings" element={<SettingsPage />} />
          <Route path="simulations" element={<SimulationsPage />} />
          <Route path="simulations/:id" element={<SimulationPage />} />
          <Route path="submit" element={<SubmitPage />} />
          <Route path="sweeps" element={<SweepsPage />} />
          <Route path="sweeps/:id" element={<SweepPage />} />
          <Route path="teams/:name/*" element={<TeamPage />} />
          <Route path="*" element={<NotFoundPage />} />
        </Route>
      </Routes>
    </BrowserRouter>
  );
}

/** Visitors sign in first and come back to where they wanted to go. */
function SignedIn() {
  const session = useSession();
  const { pathname, search } = useLocation();
  if (session.data === null) {
    return <Navigate to="/login" replace state={{ from: pathname + search }} />;
  }
  if (session.data === undefined) {
    return session.isError ? (
      <Problem error={session.error} onRetry={() => void session.refetch()} />
    ) : null;
  }
  return <Shell {...session.data} />;
}
