/*
 * A change of the size of a group: tried in a simulation, carried in an address, and made in a source. Memory is MiB, CPU is MHz.
 */

interface Size {
  readonly memory?: number;
  readonly cpu?: number;
}

/** New values of a group; what is absent stays. */
export interface GroupChange {
  readonly group: string;
  readonly count?: number;
  /** By name of the task. */
  readonly tasks: Readonly<Record<string, Size>>;
}

interface Task {
  readonly Name?: string | null | undefined;
  readonly Resources?: { readonly MemoryMB?: number | null; readonly CPU?: number | null } | null | undefined;
}

interface Group {
  readonly Name?: string | null | undefined;
  readonly Count?: number | null | undefined;
  readonly Tasks?: readonly Task[] | null | undefined;
}

interface Job {
  readonly TaskGroups?: readonly Group[] | null | undefined;
}

/** The job with the change. */
export function changedJob<J extends Job>(job: J, { group: name, count, tasks }: GroupChange): J {
  return {
    ...job,
    TaskGroups: (job.TaskGroups ?? []).map((group) =>
      group.Name !== name
        ? group
        : {
            ...group,
            ...(count === undefined ? {} : { Count: count }),
            Tasks: (group.Tasks ?? []).map((task) => {
              const size = tasks[task.Name ?? ''];
              if (size === undefined) return task;
              const { memory, cpu } = size;
              return {
                ...task,
                Resources: {
                  ...task.Resources,
                  ...(memory === undefined ? {} : { MemoryMB: memory }),
                  ...(cpu === undefined ? {} : { CPU: cpu }),
                },
              };
            }),
          },
    ),
  };
}

/** The values of the group at present. */
export function sizeOf(job: Job, name: string): GroupChange {
  const group = job.TaskGroups?.find((each) => each.Name === name);
  const tasks = (group?.Tasks ?? []).map(({ Name, Resources }) => [
    Name ?? '',
    { memory: Resources?.MemoryMB ?? 0, cpu: Resources?.CPU ?? 0 },
  ]);
  return { group: name, count: group?.Count ?? 1, tasks: Object.fromEntries(tasks) };
}

/** What differs between two sizes of a group. */
export function differenceOf(before: GroupChange, after: GroupChange): GroupChange {
  const tasks = Object.entries(after.tasks).flatMap(([task, { memory, cpu }]) => {
    const old = before.tasks[task];
    const size = {
      ...(memory === undefined || memory === old?.memory ? {} : { memory }),
      ...(cpu === undefined || cpu === old?.cpu ? {} : { cpu }),
    };
    return Object.keys(size).length === 0 ? [] : [[task, size] as const];
  });
  return {
    group: after.group,
    ...(after.count === undefined || after.count === before.count ? {} : { count: after.count }),
    tasks: Object.fromEntries(tasks),
  };
}

export function isNoChange({ count, tasks }: GroupChange): boolean {
  return count === undefined && Object.keys(tasks).length === 0;
}

interface Obstacle {
  readonly changes: readonly {
    readonly of: string;
    readonly subject: string;
    readonly from: string;
    readonly to: string;
  }[];
}

const subjects = { 'Resources.MemoryMB': 'memory', 'Resources.CPU': 'cpu' } as const;

/** The size with the changes that a node asks for: what the group has too much is taken from its largest task. */
export function suggestedSize(present: GroupChange, obstacles: readonly Obstacle[]): GroupChange {
  let size = present;
  for (const { of, subject, from, to } of obstacles.flatMap(({ changes }) => changes)) {
    const member = subject === 'Resources.MemoryMB' || subject === 'Resources.CPU' ? subjects[subject] : undefined;
    const excess = Number.parseFloat(from) - Number.parseFloat(to);
    if (of !== 'job' || member === undefined || !(excess > 0)) continue;
    const [largest] = Object.entries(size.tasks).sort(([, a], [, b]) => (b[member] ?? 0) - (a[member] ?? 0));
    if (largest === undefined) continue;
    const [task, values] = largest;
    const left = Math.floor((values[member] ?? 0) - excess);
    // A task needs some: then this change alone cannot help.
    if (left >= 1) size = { ...size, tasks: { ...size.tasks, [task]: { ...values, [member]: left } } };
  }
  return size;
}

/** The change as parts of an address. */
export function changeQuery({ group, count, tasks }: GroupChange): Readonly<Record<string, string>> {
  const sizes = Object.entries(tasks).flatMap(([task, size]) =>
    Object.entries(size).map(([member, value]) => [`${member}.${task}`, String(value)] as const),
  );
  return { group, ...(count === undefined ? {} : { count: String(count) }), ...Object.fromEntries(sizes) };
}

/** The change in an address; undefined if it has none. Values other than whole numbers are ignored. */
export function changeFrom(query: URLSearchParams): GroupChange | undefined {
  const group = query.get('group');
  if (group === null) return undefined;
  const tasks = new Map<string, Size>();
  let count: number | undefined;
  for (const [name, text] of query) {
    if (!/^\d{1,9}$/.test(text)) continue;
    const [, member, task = ''] = /^(memory|cpu)\.(.+)$/s.exec(name) ?? [];
    if (name === 'count') count = Number(text);
    else if (member !== undefined) tasks.set(task, { ...tasks.get(task), [member]: Number(text) });
  }
  const change = { group, ...(count === undefined ? {} : { count }), tasks: Object.fromEntries(tasks) };
  return isNoChange(change) ? undefined : change;
}

/** The single values of a change, each with the name of its attribute in a job file and its value before. */
export function stepsOf(
  change: GroupChange,
  present: GroupChange,
): readonly { readonly attribute: string; readonly from: number; readonly to: number; readonly change: GroupChange }[] {
  const { group, count, tasks } = change;
  return [
    ...(count === undefined
      ? []
      : [{ attribute: 'count', from: present.count ?? 1, to: count, change: { group, count, tasks: {} } }]),
    ...Object.entries(tasks).flatMap(([task, { memory, cpu }]) => [
      ...(memory === undefined
        ? []
        : [step('memory', present.tasks[task]?.memory ?? 0, memory, { group, tasks: { [task]: { memory } } })]),
      ...(cpu === undefined
        ? []
        : [step('cpu', present.tasks[task]?.cpu ?? 0, cpu, { group, tasks: { [task]: { cpu } } })]),
    ]),
  ];
}

function step(attribute: string, from: number, to: number, change: GroupChange) {
  return { attribute, from, to, change };
}

/** The most places of a source that are tried for one value. */
const mostPlaces = 16;

/** A source with another value of an attribute, once for each place that has the value now. Which one is meant, its parser decides. */
export function replacements(text: string, attribute: string, from: number, to: number): readonly string[] {
  const places = [...text.matchAll(new RegExp(`\\b${attribute}[ \\t]*=[ \\t]*(${from})(?![\\w.])`, 'g'))];
  return places.slice(0, mostPlaces).map((place) => {
    const at = place.index + place[0].length - String(from).length;
    return text.slice(0, at) + String(to) + text.slice(at + String(from).length);
  });
}
