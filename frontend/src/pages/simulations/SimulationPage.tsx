/** How far is a simulation, and what came out? */

import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";

import { messageOf } from "../../api/errors";
import { isLive, reportAddress, useCancelSimulation, useSimulation } from "../../api/simulations";
import type { SimulationDetail } from "../../api/types";
import { ToneBadge } from "../../design/Badge";
import { Button } from "../../design/Button";
import { Card } from "../../design/Card";
import frame from "../../design/Page.module.css";
import { Problem } from "../../design/Problem";
import { Skeleton } from "../../design/Skeleton";
import { RelativeTime } from "../../design/Time";
import { UnderWay } from "../../design/UnderWay";
import { askedInWords, draftOf, STATE_TONES } from "../../domain/simulations";
import { AskSimulation } from "./AskSimulation";
import { Runs } from "./Runs";
import styles from "./Simulations.module.css";

export default function SimulationPage() {
  const { id = "" } = useParams();
  const found = useSimulation(id);
  if (found.data === undefined) {
    return found.isLoadingError ? (
      <Problem error={found.error} onRetry={() => void found.refetch()} />
    ) : (
      <Skeleton height={240} />
    );
  }
  return <Shown key={id} simulation={found.data} />;
}

function Shown({ simulation }: { readonly simulation: SimulationDetail }) {
  const { id, title, state, result } = simulation;
  const [isAsking, setIsAsking] = useState(false);
  const goTo = useNavigate();
  return (
    <div className={frame.page}>
      <title>{`${title} · Concertina`}</title>
      <header className={frame.heading}>
        <h1>{title}</h1>
        <ToneBadge tone={STATE_TONES[state]} text={state} />
        <p>
          {askedInWords(simulation)} · asked by {simulation.requested_by}{" "}
          <RelativeTime at={simulation.requested_at} />
        </p>
      </header>
      <div className={styles.verbs}>
        <Link to="/simulations">All simulations</Link>
        <Button
          onClick={() => {
            setIsAsking(true);
          }}
        >
          Ask again, changed
        </Button>
        {result !== null && (
          <a href={reportAddress(id)} download>
            Download the whole report
          </a>
        )}
      </div>
      {isLive(simulation) && <Waiting simulation={simulation} />}
      {simulation.error !== "" && (
        <p role="alert" className={styles.problem}>
          {simulation.error}
        </p>
      )}
      {state === "cancelled" && <p className={styles.note}>It was given up.</p>}
      {result !== null && <Runs result={result} />}
      {isAsking && (
        <AskSimulation
          draft={draftOf(simulation)}
          onAsked={(asked) => {
            setIsAsking(false);
            void goTo(`/simulations/${asked.id}`);
          }}
          onClose={() => {
            setIsAsking(false);
          }}
        />
      )}
    </div>
  );
}

function Waiting({ simulation }: { readonly simulation: SimulationDetail }) {
  const cancel = useCancelSimulation(simulation.id);
  return (
    <Card title="Under way">
      <UnderWay
        work={simulation}
        label="Simulated"
        told={(percent) => `${percent} of the jobs have ended.`}
        isGivingUp={cancel.isPending}
        onGiveUp={() => {
          cancel.mutate(undefined);
        }}
      />
      {cancel.error !== null && (
        <p role="alert" className={styles.problem}>
          {messageOf(cancel.error)}
        </p>
      )}
    </Card>
  );
}
