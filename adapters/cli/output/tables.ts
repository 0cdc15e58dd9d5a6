import type { AllocationListStub, Deployment } from '../../../src/scheduler/index.js';

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

/*
 * Untrusted strings on a terminal: names, messages and values may contain anything, and a terminal executes control
 * characters.
 */

const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** All but line feeds and tabs. */
const controlsInLines = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A string on one line: control and bidirectional characters become escapes such as `\n` and `\u001b`. */
export function inOneLine(text: string): string {
  return text.replace(controls, escaped);
}

/** The same, but keeps line feeds and tabs. */
export function inLines(text: string): string {
  return text.replace(controlsInLines, escaped);
}

/** A value as JSON, indented if `indent` is given. Also escapes control characters that JSON allows. */
export function inJson(value: unknown, indent?: number): string {
  return inLines(JSON.stringify(value, null, indent));
}

function escaped(character: string): string {
  const json = JSON.stringify(character).slice(1, -1);
  return json.length > 1 ? json : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** Characters that occupy two cells: East Asian ones and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
/** Characters that occupy no cell: combining marks and joiners. */
const joined = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u;

/** The number of cells of a string without control characters; for joined emoji possibly more than are drawn. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += cellsOf(character);
  return width;
}

function cellsOf(character: string): number {
  if (character < '\u0300') return 1;
  return joined.test(character) ? 0 : wide.test(character) ? 2 : 1;
}

/** A string truncated with `…`. */
export function cutTo(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text;
  let kept = '';
  let left = cells - 1;
  for (const character of text) {
    left -= cellsOf(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept}…`;
}

/** A deployment with its groups; empty if there is none. */
export function deploymentText(deployment: Deployment | null): string {
  if (deployment === null) return '';
  const rows = Object.entries(deployment.TaskGroups).map(([group, state]) => [
    group,
    `${state.Promoted}`,
    ...[state.DesiredTotal, state.DesiredCanaries, state.PlacedAllocs, state.HealthyAllocs, state.UnhealthyAllocs].map(
      String,
    ),
    state.RequireProgressBy ?? '',
  ]);
  const headings = ['Group', 'Promoted', 'Desired', 'Canaries', 'Placed', 'Healthy', 'Unhealthy', 'Progress deadline'];
  return (
    facts({
      Deployment: short(deployment.ID),
      Status: deployment.Status,
      Description: deployment.StatusDescription,
      Version: deployment.JobVersion,
    }) + tableOf(headings, rows, '')
  );
}

/** A table of allocations, newest last. */
export function allocationsText(allocations: readonly AllocationListStub[]): string {
  const rows = allocations.map((allocation) => [
    short(allocation.ID),
    allocation.TaskGroup,
    String(allocation.JobVersion),
    allocation.NodeName,
    allocation.DesiredStatus,
    allocation.ClientStatus,
    timeText(allocation.CreateTime),
  ]);
  return tableOf(['ID', 'Group', 'Version', 'Node', 'Desired', 'Status', 'Created'], rows, 'no allocations');
}

type PlacedAllocation = Pick<
  AllocationListStub,
  'ID' | 'Namespace' | 'JobID' | 'TaskGroup' | 'DesiredStatus' | 'ClientStatus' | 'CreateTime'
>;

/** The allocations of all jobs on one node. */
export function allocationsOnNodeText(allocations: readonly PlacedAllocation[]): string {
  const rows = allocations.map((allocation) => [
    short(allocation.ID),
    allocation.Namespace,
    allocation.JobID,
    allocation.TaskGroup,
    allocation.DesiredStatus,
    allocation.ClientStatus,
    timeText(allocation.CreateTime),
  ]);
  return tableOf(['ID', 'Namespace', 'Job', 'Group', 'Desired', 'Status', 'Created'], rows, 'no allocations');
}

/** `2026-11-22 10:30:00 UTC`; empty without a time. */
export function timeText(unixNanoseconds: number | undefined): string {
  if (unixNanoseconds === undefined || unixNanoseconds <= 0) return '';
  return new Date(unixNanoseconds / 1e6)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}
