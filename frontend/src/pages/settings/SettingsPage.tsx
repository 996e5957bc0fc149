/** How does the dashboard look to me, how do I sign in, and how is this installation set up? */

import { useState } from "react";
import { Link } from "react-router";

import { useSession } from "../../api/session";
import { chooseDefaultTeam, defaultTeam } from "../../app/defaultTeam";
import { Card } from "../../design/Card";
import { SelectField } from "../../design/Field";
import frame from "../../design/Page.module.css";
import { Segments } from "../../design/Segments";
import { chooseTheme, useThemeChoice, type ThemeChoice } from "../../design/theme";
import { offsetOf } from "../../domain/settings";
import { InstallationSettings } from "./InstallationSettings";
import { PasswordForm } from "./PasswordForm";
import styles from "./SettingsPage.module.css";

const THEMES: readonly { readonly value: ThemeChoice; readonly text: string }[] = [
  { value: "system", text: "As the system" },
  { value: "light", text: "Light" },
  { value: "dark", text: "Dark" },
];

const CLOCK = `${Intl.DateTimeFormat().resolvedOptions().timeZone}, ${offsetOf(new Date())}`;

export default function SettingsPage() {
  const user = useSession().data?.user;
  return (
    <div className={frame.page}>
      <title>Settings · Concertina</title>
      <header className={frame.heading}>
        <h1>Settings</h1>
        <p>{user?.username ?? ""}</p>
      </header>
      <div className={styles.halves}>
        <ThisBrowser teams={user?.submits_for ?? []} />
        <Card title="How you sign in" note="your other browsers are signed out by a new password">
          <PasswordForm username={user?.username ?? ""} />
          <p className={styles.more}>
            Programs use <Link to="/account">tokens</Link>, which stay as they are.
          </p>
        </Card>
      </div>
      {user?.is_admin === true && <InstallationSettings />}
    </div>
  );
}

function ThisBrowser({ teams }: { readonly teams: readonly string[] }) {
  const theme = useThemeChoice();
  const [team, setTeam] = useState(defaultTeam);
  return (
    <Card title="This browser" note="kept here, not with your account">
      <dl className={styles.choices}>
        <dt>Theme</dt>
        <dd>
          <Segments label="Theme" options={THEMES} value={theme} onChange={chooseTheme} />
        </dd>
        {teams.length > 1 && (
          <>
            <dt>New jobs are for</dt>
            <dd>
              <SelectField
                label="Team of new jobs"
                value={team}
                options={teams}
                all="the first of your teams"
                onChange={(chosen) => {
                  chooseDefaultTeam(chosen);
                  setTeam(chosen);
                }}
              />
            </dd>
          </>
        )}
        <dt>Times</dt>
        <dd>
          {CLOCK}
          <small>as this browser&apos;s clock has it; months of reports are those of UTC</small>
        </dd>
      </dl>
    </Card>
  );
}
