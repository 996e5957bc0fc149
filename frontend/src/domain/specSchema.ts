/** Which fields does a form for job specs have? Those that the service's own schema describes. */

export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
}
export type Schemas = Readonly<Record<string, SchemaNode>>;

export type FieldKind = "text" | "number" | "yesno" | "choice" | "words" | "numbers" | "pairs";

export interface SpecField {
  /** `elastic.min_workers`, as in what the service says of problems. */
  readonly path: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  /** What it is without being said, as a text; empty: nothing. */
  readonly standard: string;
  readonly choices: readonly string[];
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly isWhole: boolean;
}

/** Other words for fields that have one; the form has no second place for them. */
const ALIASES = new Set(["project", "max_restarts"]);

/** In the order of the schema. What no plain field can hold is for the text beside the form. */
export function fieldsOf(schemas: Schemas): readonly SpecField[] {
  const spec = schemas.JobSpec;
  return spec === undefined ? [] : inside(spec, "", schemas);
}

function inside(node: SchemaNode, path: string, schemas: Schemas): SpecField[] {
  const required = new Set(node.required ?? []);
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    if (path === "" && ALIASES.has(name)) return [];
    const way = path === "" ? name : `${path}.${name}`;
    return fieldOf(child, way, required.has(name), schemas);
  });
}

function fieldOf(
  given: SchemaNode,
  path: string,
  isRequired: boolean,
  schemas: Schemas,
): SpecField[] {
  const node = resolved(given, schemas);
  if (node.properties !== undefined) return inside(node, path, schemas);
  const kind = kindOf(node, schemas);
  if (kind === null) return [];
  const standard = given.default ?? node.default;
  return [
    {
      path,
      kind,
      isRequired,
      standard: ["string", "number", "boolean"].includes(typeof standard) ? String(standard) : "",
      choices: (node.enum ?? []).filter((one) => typeof one === "string"),
      minimum: node.minimum,
      maximum: node.maximum,
      isWhole: node.type === "integer",
    },
  ];
}

/** What a reference means, and what may be instead of null; of several, the one with fields. */
function resolved(node: SchemaNode, schemas: Schemas): SchemaNode {
  if (node.$ref !== undefined) {
    return resolved(schemas[node.$ref.slice(node.$ref.lastIndexOf("/") + 1)] ?? {}, schemas);
  }
  const others = (node.anyOf ?? [])
    .filter(({ type }) => type !== "null")
    .map((one) => resolved(one, schemas));
  return others.find(({ properties }) => properties !== undefined) ?? others[0] ?? node;
}

function kindOf(node: SchemaNode, schemas: Schemas): FieldKind | null {
  if (node.enum !== undefined) return "choice";
  switch (node.type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "yesno";
    case "array":
      return kindOfList(resolved(node.items ?? {}, schemas));
    case "object":
      return typeof node.additionalProperties === "object" &&
        resolved(node.additionalProperties, schemas).type === "string"
        ? "pairs"
        : null;
    case undefined:
    default:
      return null;
  }
}

function kindOfList({ type, enum: choices }: SchemaNode): FieldKind | null {
  if (choices !== undefined) return null;
  if (type === "string") return "words";
  return type === "integer" || type === "number" ? "numbers" : null;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly SpecField[];
}

/** Plain fields of the spec, then those of each of its parts. */
export function groupsOf(fields: readonly SpecField[]): readonly FieldGroup[] {
  const groups = new Map<string, SpecField[]>();
  for (const field of fields) {
    const part = field.path.includes(".") ? (field.path.split(".")[0] ?? "") : "";
    groups.set(part, [...(groups.get(part) ?? []), field]);
  }
  return [...groups].map(([title, inGroup]) => ({ title, fields: inGroup }));
}
