import { inOneLine, widthOf } from './cells.js';

/** Lines of cells, each column as wide as its widest cell, two blanks between. Ends with a line feed unless empty. */
export function columns(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((text) => ({ text: inOneLine(text), width: widthOf(inOneLine(text)) })));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [at, { width }] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, width);
  }
  const lines = cells.map((row) =>
    row
      .map(({ text, width }, at) => (at === row.length - 1 ? text : text + ' '.repeat((widths[at] ?? 0) - width)))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** The same below a line of headings; the given message if there are no rows. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  return rows.length === 0 ? `${none}\n` : columns([headings, ...rows]);
}

/** Names and values, one on each line: `ID = digest`. */
export function facts(entries: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const rows = Object.entries(entries).filter(([, value]) => value !== undefined && value !== '');
  return columns(rows.map(([name, value]) => [name, `= ${String(value)}`]));
}

/** The first eight characters of an identifier: sufficient to distinguish it, and accepted by every command. */
export function short(id: string): string {
  return id.slice(0, 8);
}
