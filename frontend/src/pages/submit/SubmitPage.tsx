/** Submit a job: a form, its text beside it, and what would become of it, while one writes. */

import { useNavigate, useSearchParams } from "react-router";

import { messageOf } from "../../api/errors";
import { useJob } from "../../api/jobs";
import { useSession } from "../../api/session";
import { useDryRun, useSpecSchemas, useSubmitText } from "../../api/submission";
import { defaultTeam, defaultTeamFirst } from "../../app/defaultTeam";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import frame from "../../design/Page.module.css";
import { readText, textOf, withValue } from "../../domain/specText";
import { DryRunTold } from "./DryRunTold";
import { SpecForm } from "./SpecForm";
import { forgetDraft, useDraft } from "./useDraft";
import styles from "./SubmitPage.module.css";

/** A new one; whoever is in several teams has to say for which of them it is. */
function beginning([team = "", ...others]: readonly string[]): string {
  return `name: first
${others.length > 0 ? `team: ${team}\n` : ""}command: [python, train.py]
elastic: {min_workers: 1, max_workers: 4}
`;
}

export default function SubmitPage() {
  const [address] = useSearchParams();
  const from = address.get("from") ?? "";
  return (
    <div className={frame.page}>
      <title>Submit · Concertina</title>
      {from === "" ? <Whoever from="" first="" /> : <FromJob key={from} from={from} />}
    </div>
  );
}

/** The same as a job, to be changed. */
function FromJob({ from }: { readonly from: string }) {
  const job = useJob(from);
  if (job.data !== undefined) return <Whoever from={from} first={textOf(job.data.spec)} />;
  return job.isLoadingError ? (
    <Problem error={job.error} onRetry={() => void job.refetch()} />
  ) : (
    <Skeleton height={480} />
  );
}

interface WhoeverProps {
  readonly from: string;
  /** Empty: as a new one begins. */
  readonly first: string;
}

function Whoever(props: WhoeverProps) {
  const user = useSession().data?.user;
  const teams = defaultTeamFirst(user?.submits_for ?? [], defaultTeam());
  if (teams.length === 0) {
    return (
      <EmptyState title="You may not submit jobs">
        <p>
          {(user?.teams ?? []).length === 0
            ? "You are in no team yet. Ask a lead of yours, or an admin, to add you."
            : "You see jobs of your teams as a viewer. Ask a lead to make you a member."}
        </p>
      </EmptyState>
    );
  }
  return <Submit {...props} first={props.first || beginning(teams)} teams={teams} />;
}

interface SubmitProps extends WhoeverProps {
  readonly teams: readonly string[];
}

function Submit({ from, first, teams }: SubmitProps) {
  const [draft, write] = useDraft(from);
  const text = draft ?? first;
  const { spec, problem } = readText(text);
  const schemas = useSpecSchemas();
  const dryRun = useDryRun(text, spec !== null);
  const submit = useSubmitText();
  const navigate = useNavigate();
  const problems = dryRun?.answer?.problems ?? [];
  const send = () => {
    submit.mutate(text, {
      onSuccess: (place) => {
        forgetDraft();
        void navigate(place);
      },
    });
  };
  return (
    <>
      <header className={frame.heading}>
        <h1>Submit a job</h1>
        {from !== "" && <p>with the spec of job {from}, to be changed</p>}
      </header>
      <section className={styles.bar} aria-label="What would become of it">
        <DryRunTold told={dryRun} text={text} problem={problem} />
        <div className={styles.buttons}>
          {draft !== null && (
            <Button
              look="quiet"
              onClick={() => {
                write(first);
              }}
            >
              Start over
            </Button>
          )}
          <Button look="primary" disabled={spec === null || submit.isPending} onClick={send}>
            Submit
          </Button>
        </div>
        {submit.isError && (
          <p role="alert" className={styles.refused}>
            {messageOf(submit.error)}
          </p>
        )}
      </section>
      <div className={styles.halves}>
        <Card title="Form" note={spec === null && "waits until the text can be read"} isFlush>
          {schemas.isPending && <Skeleton height={420} />}
          {schemas.isLoadingError && (
            <Problem error={schemas.error} onRetry={() => void schemas.refetch()} />
          )}
          {schemas.data !== undefined && (
            <SpecForm
              spec={spec}
              schemas={schemas.data}
              teams={teams}
              problems={problems}
              onChange={(path, value) => {
                write(withValue(text, path, value));
              }}
            />
          )}
        </Card>
        <Card title="Text" note="YAML; what the form does not show can be written here">
          <textarea
            className={styles.text}
            aria-label="Spec as YAML"
            aria-invalid={problem !== ""}
            aria-describedby="spec-problem"
            spellCheck={false}
            autoCapitalize="off"
            value={text}
            rows={Math.max(24, text.split("\n").length + 2)}
            onChange={({ target }) => {
              write(target.value);
            }}
          />
          <p id="spec-problem" role="status" className={styles.refused}>
            {problem}
          </p>
        </Card>
      </div>
    </>
  );
}
