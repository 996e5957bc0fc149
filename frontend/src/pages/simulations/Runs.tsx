/** What came out: in a sentence, as bars, and as a table of all figures. */

import type { SimulationDetail } from "../../api/types";
import { Breakable } from "../../design/Breakable";
import { Card } from "../../design/Card";
import { CopyAsCsv } from "../../design/CopyAsCsv";
import { formatDuration, formatGpus } from "../../domain/format";
import { barsOf, FIGURES, runsAsCsv } from "../../domain/simulations";
import compare from "../compare/ComparePage.module.css";
import styles from "./Simulations.module.css";

type Result = NonNullable<SimulationDetail["result"]>;

export function Runs({ result }: { readonly result: Result }) {
  return (
    <>
      <p role="status" className={styles.verdict}>
        {result.verdict}
      </p>
      <div className={styles.halves}>
        <Bars result={result} title="Mean time to completion" name="mean_completion_seconds" />
        <Bars result={result} title="Mean wait" name="mean_wait_seconds" />
      </div>
      <Card
        title="All figures"
        note={`on ${formatGpus(result.gpus)}; of finished jobs`}
        isFlush
        actions={<CopyAsCsv what="all figures" csv={() => runsAsCsv(result.runs)} />}
      >
        <div role="region" className={compare.scroll} aria-label="Table: all figures" tabIndex={0}>
          <table className={styles.table}>
            <caption className="visually-hidden">How each run went</caption>
            <thead>
              <tr>
                <th scope="col">Policy</th>
                {FIGURES.map(({ title, about }) => (
                  <th key={title} scope="col" title={about}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {result.runs.map((run) => (
                <tr key={run.label}>
                  <th scope="row">{run.label}</th>
                  {FIGURES.map(({ title, shown }) => (
                    <td key={title}>{shown(run)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
    </>
  );
}

interface BarsProps {
  readonly result: Result;
  readonly title: string;
  readonly name: Parameters<typeof barsOf>[1];
}

function Bars({ result: { runs }, title, name }: BarsProps) {
  const bars = barsOf(runs, name);
  return (
    <Card title={title} note="shorter is better">
      <ul className={styles.bars}>
        {runs.map((run, place) => (
          <li key={run.label}>
            <span>
              <Breakable text={run.label} />
            </span>
            <span aria-hidden="true" className={styles.bar}>
              <span style={{ width: `${String(bars[place] ?? 0)}%` }} />
            </span>
            <span className={styles.figure}>{formatDuration(run[name])}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
