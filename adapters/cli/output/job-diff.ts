import type { FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from '../../../src/jobs/index.js';
import { inOneLine } from './tables.js';
import type { Colours } from './terminal-text.js';

/** The differences between two jobs, indented, each line prefixed with `+`, `-` or `+/-`. */
export function jobDiffText(diff: JobDiff, colours: Colours): string {
  const lines = [
    `${sign(diff.Type, colours)}Job: "${inOneLine(diff.ID)}"`,
    ...membersOf(diff, 1, colours),
    ...(diff.TaskGroups ?? []).flatMap((group) => groupLines(group, colours)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function groupLines(group: TaskGroupDiff, colours: Colours): string[] {
  const updates = Object.entries(group.Updates ?? {}).map(([kind, count]) => `${count} ${kind}`);
  const tasks = (group.Tasks ?? []).filter(({ Type }) => Type !== 'None');
  return [
    `${sign(group.Type, colours)}Group: "${inOneLine(group.Name)}"${updates.length === 0 ? '' : ` (${updates.join(', ')})`}`,
    ...membersOf(group, 1, colours),
    ...tasks.flatMap((task) => taskLines(task, colours)),
  ];
}

function taskLines(task: TaskDiff, colours: Colours): string[] {
  return [
    `  ${sign(task.Type, colours)}Task: "${inOneLine(task.Name)}"${notes(task.Annotations)}`,
    ...membersOf(task, 2, colours),
  ];
}

function membersOf(change: Pick<ObjectDiff, 'Type' | 'Fields' | 'Objects'>, depth: number, colours: Colours): string[] {
  const blank = '  '.repeat(depth);
  return [
    ...(change.Fields ?? [])
      .filter(({ Type }) => Type !== 'None')
      .map((field) => `${blank}${sign(field.Type, colours)}${fieldText(field)}`),
    ...(change.Objects ?? [])
      .filter(({ Type }) => Type !== 'None')
      .flatMap((object) => [
        `${blank}${sign(object.Type, colours)}${inOneLine(object.Name)} {`,
        ...membersOf(object, depth + 1, colours),
        `${blank}    }`,
      ]),
  ];
}

function fieldText({ Type, Name, Old, New, Annotations }: FieldDiff): string {
  const values = Type === 'Edited' ? `"${Old}" => "${New}"` : `"${Type === 'Deleted' ? Old : New}"`;
  return `${inOneLine(`${Name}: ${values}`)}${notes(Annotations)}`;
}

function notes(annotations: readonly string[] | null): string {
  return annotations === null || annotations.length === 0 ? '' : ` (${inOneLine(annotations.join(', '))})`;
}

function sign(type: JobDiff['Type'], colours: Colours): string {
  if (type === 'Added') return colours.added('+   ');
  if (type === 'Deleted') return colours.removed('-   ');
  return type === 'Edited' ? colours.changed('+/- ') : '    ';
}
