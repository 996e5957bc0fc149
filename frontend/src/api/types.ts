/** The api's nouns under short names; every one comes from the generated schema. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Job = Schemas["Job"];
export type JobDetail = Schemas["JobDetail"];
export type JobChanges = Schemas["JobChanges"];
export type Remedy = Schemas["FoundRemedy"];
export type Generation = Schemas["Generation"];
export type MetricPoint = Schemas["Metric"];
export type JobSparkline = Schemas["Sparkline"];
export type UsagePoint = Schemas["UsagePoint"];
export type JobEvent = Schemas["Event"];
export type EventKind = Schemas["EventKind"];
export type JobReason = Schemas["JobReason"];
export type Worker = Schemas["Worker"];
export type Explanation = Schemas["Explanation"];
export type RunningDetails = Schemas["RunningDetails"];
export type PredictedSpan = Schemas["Span"];
export type Prediction = Schemas["Prediction"];
export type Calibration = Schemas["Calibration"];
export type Lately = Schemas["Lately"];
export type Choice = Schemas["Choice"];
export type TeamStanding = Schemas["Team"];
export type Plans = Schemas["Plans"];
export type Pool = Schemas["Pool"];
export type Utilisation = Schemas["Utilisation"];
export type Summary = Schemas["Summary"];
export type Session = Schemas["Session"];
export type LogLine = Schemas["LogLine"];
export type KeptCheckpoint = Schemas["KeptCheckpoint"];
export type ModelVersion = Schemas["ModelVersion"];
export type Output = Schemas["Output"];
export type Removal = Schemas["Removal"];
export type KeptPart = Schemas["KeptPart"];
export type RetentionChanges = Schemas["PatchedRetentionBody"];
export type TeamStorage = Schemas["TeamStorage"];
export type Secret = Schemas["Secret"];
export type SecretContent = Schemas["SecretBody"];
