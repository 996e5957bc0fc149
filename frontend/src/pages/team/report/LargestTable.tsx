/** Who of a team, or what, held most GPU-hours of a month, and what does that cost? */

import type { ReportAmounts } from "../../../api/types";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { formatGpuHours } from "../../../domain/format";
import { formatMoney } from "../../../domain/monthReport";
import { WideTable } from "./WideTable";

interface LargestTableProps {
  readonly title: string;
  readonly of: string;
  readonly note?: string;
  readonly rows: readonly (readonly [string, ReportAmounts])[];
}

export function LargestTable({ title, of, note, rows }: LargestTableProps) {
  const hasCost = rows.some(([, { cost }]) => cost !== null && cost !== 0);
  return (
    <Card title={title} note={note} isFlush>
      {rows.length === 0 ? (
        <EmptyState title="Nothing was held in this month" />
      ) : (
        <WideTable caption={`GPU-hours, ${title.toLowerCase()}`}>
          <thead>
            <tr>
              <th scope="col">{of}</th>
              <th scope="col">Own, GPU-h</th>
              <th scope="col">Borrowed, GPU-h</th>
              <th scope="col">Lost, GPU-h</th>
              {hasCost && <th scope="col">Cost</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, row]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{formatGpuHours(row.guaranteed_gpu_hours)}</td>
                <td>{formatGpuHours(row.borrowed_gpu_hours)}</td>
                <td>{formatGpuHours(row.lost_work_gpu_hours)}</td>
                {hasCost && <td>{formatMoney(row.cost)}</td>}
              </tr>
            ))}
          </tbody>
        </WideTable>
      )}
    </Card>
  );
}
