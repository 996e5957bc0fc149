/** The head of the table: what stands in each column, and by which of them it is ordered. */

import { JOB_COLUMNS } from "../../domain/jobColumns";
import type { JobOrder } from "../../domain/jobFilter";
import type { Chosen } from "./useChosen";
import styles from "./JobTable.module.css";

interface JobHeaderProps {
  readonly columns: readonly string[];
  readonly order: JobOrder;
  readonly onOrder: (order: JobOrder) => void;
  readonly chosen: Chosen;
}

export function JobHeader({ columns, order, onOrder, chosen }: JobHeaderProps) {
  return (
    <div role="rowgroup" className={styles.head}>
      <div role="row" aria-rowindex={1} className={styles.row}>
        <span role="columnheader" className={styles.choice}>
          <input
            type="checkbox"
            aria-label="Choose all jobs of the list"
            checked={chosen.isAll}
            disabled={chosen.isReading}
            onChange={() => {
              chosen.toggleAll();
            }}
          />
        </span>
        {JOB_COLUMNS.filter(({ id }) => columns.includes(id)).map((column) => (
          <span
            key={column.id}
            role="columnheader"
            className={styles.cell}
            data-column={column.id}
            data-number={column.isNumber ?? false}
            {...(column.order === order && { "aria-sort": "descending" })}
          >
            {column.order === undefined ? (
              column.title
            ) : (
              <OrderButton
                title={column.title}
                isOn={column.order === order}
                onClick={() => {
                  if (column.order !== undefined) onOrder(column.order);
                }}
              />
            )}
          </span>
        ))}
      </div>
    </div>
  );
}

interface OrderButtonProps {
  readonly title: string;
  readonly isOn: boolean;
  readonly onClick: () => void;
}

function OrderButton({ title, isOn, onClick }: OrderButtonProps) {
  return (
    <button
      type="button"
      className={styles.order}
      title={isOn ? "The newest first" : `Sort by when they ${title.toLowerCase()}`}
      onClick={onClick}
    >
      {title}
      <svg width="8" height="10" viewBox="0 0 8 10" aria-hidden="true" data-on={isOn}>
        <path d="M4 1v8M1 6l3 3 3-3" />
      </svg>
    </button>
  );
}
