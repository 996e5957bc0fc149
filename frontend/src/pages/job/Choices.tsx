/** One worker fewer, as it is, one more: speed and worth side by side. */

import type { Choice } from "../../api/types";
import { useTeamColour } from "../../design/teamColour";
import { formatCount, formatMetric } from "../../domain/format";
import styles from "./Choices.module.css";

interface ChoicesProps {
  readonly choices: readonly Choice[];
  readonly chosen: number | null;
  readonly team: string;
}

export function Choices({ choices, chosen, team }: ChoicesProps) {
  const colour = useTeamColour()(team);
  const most = Math.max(...choices.map((choice) => choice.speedup), 1e-9);
  return (
    <table className={styles.choices}>
      <caption className="visually-hidden">What the planner compared</caption>
      <thead>
        <tr>
          <th scope="col">Workers</th>
          <th scope="col">Batch</th>
          <th scope="col">Samples/s</th>
          <th scope="col">Speed-up</th>
          <th scope="col" title="What a sample of this batch counts, by the gradient noise">
            Sample worth
          </th>
          <th scope="col" title="What the planner compares: more is better, by its pool's policy">
            Planner’s value
          </th>
        </tr>
      </thead>
      <tbody>
        {choices.map((choice) => (
          <tr key={choice.workers} data-chosen={choice.workers === chosen}>
            <th scope="row">
              {choice.workers}
              {choice.workers === chosen && <span className="visually-hidden"> (chosen)</span>}
            </th>
            <td>{formatCount(choice.global_batch_size)}</td>
            <td>{formatCount(Math.round(choice.samples_per_second))}</td>
            <td>
              {formatMetric(choice.speedup)}×
              <span className={styles.track} aria-hidden="true">
                <span style={{ width: `${(choice.speedup / most) * 100}%`, background: colour }} />
              </span>
            </td>
            <td>{Math.round(choice.efficiency * 100)} %</td>
            <td>{formatMetric(choice.value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
