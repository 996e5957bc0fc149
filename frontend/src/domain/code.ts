/** Which code does a job run? What its spec says of the snapshot that was sent along. */

export interface CodeOrigin {
  /** `main@3f2a91c, changed`, or the beginning of the digest where git knew nothing. */
  readonly label: string;
  /** What was changed beside the commit; empty: nothing, or nobody knows. */
  readonly diff: string;
}

type Document = Readonly<Record<string, unknown>>;

export function codeOrigin(spec: Document): CodeOrigin | null {
  const code = spec.code;
  if (!isDocument(code) || typeof code.digest !== "string") return null;
  if (!isDocument(code.git)) return { label: code.digest.slice(0, 12), diff: "" };
  const { commit, branch, is_changed: isChanged, diff } = code.git;
  const label = `${String(branch)}@${String(commit).slice(0, 7)}`;
  return {
    label: isChanged === true ? `${label}, changed` : label,
    diff: typeof diff === "string" ? diff : "",
  };
}

function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null;
}
