/** In which words is something asked, and told, of many jobs? */

import type { BulkAction } from "../../domain/bulk";

export interface BulkWording {
  readonly button: string;
  readonly title: (jobs: string) => string;
  readonly consequence: string;
  readonly done: string;
}

export const BULK_WORDING: Readonly<Record<BulkAction, BulkWording>> = {
  pause: {
    button: "Pause",
    title: (jobs) => `Pause ${jobs}?`,
    consequence:
      "Each saves a checkpoint, gives its GPUs back, and waits until somebody resumes it.",
    done: "paused",
  },
  resume: {
    button: "Resume",
    title: (jobs) => `Resume ${jobs}?`,
    consequence: "Each joins the queue and continues from its checkpoint.",
    done: "resumed",
  },
  cancel: {
    button: "Cancel jobs",
    title: (jobs) => `Cancel ${jobs} for good?`,
    consequence: "Their workers stop now. Logs, metrics and checkpoints stay; none can be resumed.",
    done: "cancelled",
  },
  label: {
    button: "Label",
    title: (jobs) => `Label ${jobs}?`,
    consequence: "Each gets this label. One that has a label of that name gets the new value.",
    done: "labelled",
  },
};
