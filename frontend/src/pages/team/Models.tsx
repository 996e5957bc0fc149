/** The checkpoints to which the team gave names; a click takes the weights home. */

import { Link } from "react-router";

import { modelAddress, useModels } from "../../api/results";
import type { ModelVersion } from "../../api/types";
import { Card } from "../../design/Card";
import { Problem } from "../../design/Problem";
import { RelativeTime } from "../../design/Time";
import { formatBytes, formatMetric, NONE } from "../../domain/format";
import styles from "../job/results/Outputs.module.css";

export function Models({ team }: { readonly team: string }) {
  const models = useModels(team);
  const versions = models.data?.items.flatMap((model) => model.versions) ?? [];
  if (versions.length === 0 && !models.isLoadingError) return null; // few teams have any at first
  return (
    <Card title="Models" isFlush>
      {models.isLoadingError && (
        <Problem error={models.error} onRetry={() => void models.refetch()} />
      )}
      {versions.length > 0 && <Versions team={team} versions={versions} />}
    </Card>
  );
}

interface VersionsProps {
  readonly team: string;
  readonly versions: readonly ModelVersion[];
}

function Versions({ team, versions }: VersionsProps) {
  return (
    <div className={styles.scroll}>
      <table className={styles.entries}>
        <caption className="visually-hidden">Versions of models, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Aliases</th>
            <th scope="col">Metrics</th>
            <th scope="col">From</th>
            <th scope="col">Added</th>
            <th scope="col">Weights</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((one) => (
            <tr key={`${one.model}@${one.version}`}>
              <th scope="row" title={one.note}>
                {`${one.model}@${one.version}`}
              </th>
              <td>{one.aliases.join(", ") || NONE}</td>
              <td>{metricsOf(one)}</td>
              <td>
                <Origin version={one} />
              </td>
              <td>
                <RelativeTime at={one.created_at} /> {`by ${one.created_by}`}
              </td>
              <td>
                <Weights team={team} version={one} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A link as long as it leads to the job. */
function Origin({ version }: { readonly version: ModelVersion }) {
  const words = `${version.job_name}, step ${version.step}`;
  if (!version.has_job) return <span title="The job was deleted.">{words}</span>;
  return <Link to={`/jobs/${version.job_id}`}>{words}</Link>;
}

function Weights({ team, version }: { readonly team: string; readonly version: ModelVersion }) {
  if (version.state !== "stored") return version.state;
  return (
    <a
      href={modelAddress(team, version)}
      title={`Download the weights, SHA-256 ${version.digest}`}
      download
    >
      {formatBytes(version.weights_bytes)}
    </a>
  );
}

function metricsOf({ metrics }: ModelVersion): string {
  const told = Object.entries(metrics).map(([name, value]) => `${name} ${formatMetric(value)}`);
  return told.join(", ") || NONE;
}
