/** The api's nouns under short names; every one comes from the generated schema. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Job = Schemas["Job"];
export type Generation = Schemas["Generation"];
export type MetricPoint = Schemas["MetricPoint"];
export type JobEvent = Schemas["Event"];
export type Worker = Schemas["Worker"];
export type Explanation = Schemas["Explanation"];
export type Choice = Schemas["Choice"];
export type TeamStanding = Schemas["TeamStanding"];
export type Pool = Schemas["Pool"];
export type Utilisation = Schemas["Utilisation"];
export type Summary = Schemas["Summary"];
export type Session = Schemas["Session"];

/** One line of a job's log, as the stream sends it. */
export interface LogLine {
  readonly at: string;
  readonly worker: string;
  readonly stream: string;
  readonly text: string;
}
