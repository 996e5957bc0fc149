/** Which data does a job use? What its spec says, in a few words. */

export interface DataUse {
  readonly source: string;
  /** `imagenet/train`, or with what else is to be known. */
  readonly label: string;
}

export function dataUses(spec: Readonly<Record<string, unknown>>): readonly DataUse[] {
  const uses: readonly unknown[] = Array.isArray(spec.data) ? spec.data : [];
  return uses.flatMap((use) => {
    if (typeof use !== "object" || use === null || !("source" in use)) return [];
    const { source, path, writable } = use as Readonly<Record<string, unknown>>;
    const place = [String(source), ...(typeof path === "string" && path !== "" ? [path] : [])];
    const label = place.join("/");
    return [{ source: String(source), label: writable === true ? `${label}, writable` : label }];
  });
}
