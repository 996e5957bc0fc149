/** GPUs in use over time: who used what, and whose it was. */

import { useMemo } from "react";

import { useUtilisation } from "../../api/cluster";
import type { Utilisation } from "../../api/types";
import { useInAddress } from "../../app/useInAddress";
import { Chart } from "../../charts/Chart";
import { useChartColours } from "../../charts/colours";
import { utilisationOption } from "../../charts/utilisation";
import { Card } from "../../design/Card";
import { EmptyState } from "../../design/EmptyState";
import { Problem } from "../../design/Problem";
import { Segments } from "../../design/Segments";
import { Skeleton } from "../../design/Skeleton";
import { useTeamSlots } from "../../design/teamColour";
import { colourSlot } from "../../domain/teamColours";
import { describeUse } from "../../domain/utilisation";
import { GuaranteeGutter } from "./GuaranteeGutter";
import styles from "./Usage.module.css";

const HEIGHT = 272;
const RANGES = [
  { value: 15, text: "15 min" },
  { value: 60, text: "1 h" },
  { value: 360, text: "6 h" },
  { value: 1440, text: "24 h" },
];

const USUAL_MINUTES = 60;

export function Usage({ pool }: { readonly pool: string | undefined }) {
  const [chosen, setChosen] = useInAddress("minutes");
  const minutes = RANGES.find(({ value }) => String(value) === chosen)?.value ?? USUAL_MINUTES;
  const utilisation = useUtilisation(pool, minutes);
  return (
    <Card
      title="GPUs in use"
      note="Hatched: borrowed, in the band of whoever lends it"
      actions={
        <Segments
          label="Range"
          options={RANGES}
          value={minutes}
          onChange={(value) => {
            setChosen(value === USUAL_MINUTES ? "" : String(value));
          }}
        />
      }
    >
      {utilisation.data !== undefined && (
        <UsageChart utilisation={utilisation.data} minutes={minutes} />
      )}
      {utilisation.isPending && <Skeleton height={HEIGHT} />}
      {utilisation.isLoadingError && (
        <Problem error={utilisation.error} onRetry={() => void utilisation.refetch()} />
      )}
    </Card>
  );
}

interface UsageChartProps {
  readonly utilisation: Utilisation;
  readonly minutes: number;
}

function UsageChart({ utilisation, minutes }: UsageChartProps) {
  const colours = useChartColours();
  const slots = useTeamSlots();
  const option = useMemo(() => {
    const colourOf = (team: string) => colours.teams[colourSlot(slots, team)] ?? colours.accent;
    return utilisationOption(utilisation, minutes, colours, colourOf);
  }, [utilisation, minutes, colours, slots]);
  if (utilisation.samples.length < 2) {
    return (
      <div style={{ height: HEIGHT }}>
        <EmptyState title="No history yet">
          <p>The control loop writes how many GPUs each team holds at every tick.</p>
        </EmptyState>
      </div>
    );
  }
  return (
    <figure className={styles.figure}>
      <Chart option={option} height={HEIGHT} label={describeUse(utilisation)} name="GPUs in use" />
      <GuaranteeGutter utilisation={utilisation} />
    </figure>
  );
}
