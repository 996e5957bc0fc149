/** With which parts of specs may the team's jobs begin? */

import { useState } from "react";

import { useTemplates } from "../../../api/rules";
import type { Template } from "../../../api/types";
import { Button } from "../../../design/Button";
import { Card } from "../../../design/Card";
import { EmptyState } from "../../../design/EmptyState";
import { Problem } from "../../../design/Problem";
import { SkeletonRows } from "../../../design/Skeleton";
import { RelativeTime } from "../../../design/Time";
import { DeleteTemplate, TemplateForm } from "./TemplateForm";
import styles from "../Secrets.module.css";

type Asked =
  | { readonly what: "set"; readonly template?: Template }
  | { readonly what: "delete"; readonly template: Template }
  | null;

export function Templates({ team }: { readonly team: string }) {
  const templates = useTemplates(team);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => {
    setAsked(null);
  };
  return (
    <Card
      title="Templates"
      note="parts of specs, which jobs name as template"
      isFlush
      actions={
        templates.data?.may_add === true && (
          <Button
            onClick={() => {
              setAsked({ what: "set" });
            }}
          >
            New template
          </Button>
        )
      }
    >
      {templates.isPending && <SkeletonRows rows={1} height={56} />}
      {templates.isLoadingError && (
        <Problem error={templates.error} onRetry={() => void templates.refetch()} />
      )}
      {templates.data?.items.length === 0 && (
        <EmptyState title="No templates">
          <p>
            A job that says <code>template: NAME</code> gets what the template says, where it says
            nothing itself.
          </p>
        </EmptyState>
      )}
      <ul className={styles.list} aria-label="Templates">
        {templates.data?.items.map((template) => (
          <Row key={template.name} team={team} template={template} onAsk={setAsked} />
        ))}
      </ul>
      {asked?.what === "set" && <TemplateForm team={team} known={asked.template} onClose={close} />}
      {asked?.what === "delete" && <DeleteTemplate template={asked.template} onClose={close} />}
    </Card>
  );
}

interface RowProps {
  readonly team: string;
  readonly template: Template;
  readonly onAsk: (asked: Asked) => void;
}

function Row({ team, template, onAsk }: RowProps) {
  const { name, description, version, team: owner } = template;
  return (
    <li className={styles.secret} aria-label={`Template ${name}`}>
      <div className={styles.about}>
        <p className={styles.head}>
          <strong>{name}</strong>
          <span className={styles.sets}>
            {Object.keys(template.spec).map((field) => (
              <code key={field}>{field}</code>
            ))}
          </span>
        </p>
        {description !== "" && <p className={styles.note}>{description}</p>}
        <p className={styles.note}>
          Version {version}, changed <RelativeTime at={template.changed_at} />
          {template.changed_by !== "" && ` by ${template.changed_by}`}
          {owner !== team && ` · of team ${owner}`}
        </p>
      </div>
      {template.may_change && owner === team && (
        <div className={styles.verbs}>
          <Button
            aria-label={`Change ${name}`}
            onClick={() => {
              onAsk({ what: "set", template });
            }}
          >
            Change
          </Button>
          <Button
            look="danger"
            aria-label={`Delete ${name}`}
            onClick={() => {
              onAsk({ what: "delete", template });
            }}
          >
            Delete
          </Button>
        </div>
      )}
    </li>
  );
}
