/** What does a filled-in form say is to be kept? Rows without a name are left out. */

import type { SecretContent } from "../api/types";

export function contentOf(form: FormData): SecretContent {
  if (text(form, "kind") === "registry") {
    return {
      kind: "registry",
      registry: text(form, "registry").trim(),
      username: text(form, "username"),
      password: text(form, "password"),
    };
  }
  const values = form.getAll("value");
  const rows = form
    .getAll("variable")
    .map((name, place): [string, string] => [asText(name).trim(), asText(values[place])]);
  return { kind: "environment", variables: Object.fromEntries(rows.filter(([name]) => name)) };
}

export function text(form: FormData, name: string): string {
  return asText(form.get(name));
}

function asText(value: FormDataEntryValue | null | undefined): string {
  return typeof value === "string" ? value : "";
}
