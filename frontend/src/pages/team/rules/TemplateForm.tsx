/** A template is added, changed or deleted. What it says is written as text, as specs are. */

import { useState } from "react";

import { useAddTemplate, useChangeTemplate, useDeleteTemplate } from "../../../api/rules";
import type { Template } from "../../../api/types";
import { FormDialog, FormField } from "../../../design/FormDialog";
import { text as textIn } from "../../../domain/secrets";
import { readText, textOf } from "../../../domain/specText";
import { YamlField } from "./YamlField";

const EXAMPLE = `elastic: {max_workers: 8}
env: {NCCL_DEBUG: WARN}`;

interface TemplateFormProps {
  readonly team: string;
  /** None: a new one. */
  readonly known: Template | undefined;
  readonly onClose: () => void;
}

export function TemplateForm({ team, known, onClose }: TemplateFormProps) {
  const [written, setWritten] = useState(() => (known === undefined ? "" : textOf(known.spec)));
  const add = useAddTemplate(team);
  const change = useChangeTemplate(team, known?.name ?? "", known?.version ?? 0);
  const { spec, problem } = readText(written);
  return (
    <FormDialog
      title={known === undefined ? "New template" : `Change ${known.name}`}
      verb={known === undefined ? "Keep template" : "Change template"}
      call={known === undefined ? add : change}
      onClose={onClose}
      onSubmit={(form) => {
        if (spec === null) return;
        const body = { spec, description: textIn(form, "description").trim() };
        if (known !== undefined) change.mutate(body, { onSuccess: onClose });
        else add.mutate({ ...body, name: textIn(form, "name").trim() }, { onSuccess: onClose });
      }}
    >
      {known === undefined && (
        <FormField label="Name">
          <input name="name" required maxLength={40} placeholder="large" autoCapitalize="none" />
        </FormField>
      )}
      <FormField label="Description">
        <input
          name="description"
          maxLength={500}
          defaultValue={known?.description ?? ""}
          placeholder="For runs over night."
        />
      </FormField>
      <YamlField
        label="Part of a spec as YAML"
        text={written}
        problem={problem}
        example={EXAMPLE}
        onChange={setWritten}
      />
    </FormDialog>
  );
}

interface DeleteTemplateProps {
  readonly template: Template;
  readonly onClose: () => void;
}

export function DeleteTemplate({ template, onClose }: DeleteTemplateProps) {
  const call = useDeleteTemplate(template.team, template.name);
  return (
    <FormDialog
      title={`Delete ${template.name}?`}
      verb="Delete template"
      call={call}
      onClose={onClose}
      onSubmit={() => {
        call.mutate(undefined, { onSuccess: onClose });
      }}
    >
      <p>
        Jobs that began with it stay as they are. A job or a schedule that names it is refused from
        now on.
      </p>
    </FormDialog>
  );
}
