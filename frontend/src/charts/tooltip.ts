/** The content of a tooltip, built from text only, so that no message can carry markup. */

import styles from "./tooltip.module.css";

export interface TooltipRow {
  readonly colour?: string;
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}

export interface TooltipContent {
  readonly title: string;
  readonly rows: readonly TooltipRow[];
  readonly text?: string;
}

export function tooltip(content: TooltipContent): HTMLElement {
  const box = element("div", styles.tooltip);
  box.append(element("div", styles.title, content.title));
  for (const row of content.rows) box.append(rowElement(row));
  if (content.text !== undefined && content.text !== "") {
    box.append(element("p", styles.text, content.text));
  }
  return box;
}

function rowElement(row: TooltipRow): HTMLElement {
  const line = element("div", styles.row);
  if (row.colour !== undefined) {
    const mark = element("span", styles.mark);
    mark.style.background = row.colour;
    line.append(mark);
  }
  line.append(element("span", styles.name, row.name), element("span", styles.value, row.value));
  if (row.note !== undefined) line.append(element("span", styles.note, row.note));
  return line;
}

function element(tag: string, className: string | undefined, text = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = className ?? "";
  made.textContent = text;
  return made;
}
