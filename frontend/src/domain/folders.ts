/** Folders of outputs, by their paths. */

export interface Crumb {
  readonly name: string;
  readonly folder: string;
}

/** `plots/by-epoch` leads through `outputs`, `plots` and `by-epoch`. */
export function crumbsOf(folder: string): readonly Crumb[] {
  const names = folder === "" ? [] : folder.split("/");
  const crumbs = names.map((name, index) => ({
    name,
    folder: names.slice(0, index + 1).join("/"),
  }));
  return [{ name: "outputs", folder: "" }, ...crumbs];
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
