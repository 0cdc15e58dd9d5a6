/** A variable as the tree needs it. */
interface Located {
  readonly Namespace: string;
  readonly Path: string;
}

/** A line of the tree: a variable, or a folder with the number of variables below it. */
export type TreeEntry<V> =
  | { readonly type: 'folder'; readonly name: string; readonly path: string; readonly count: number }
  | { readonly type: 'variable'; readonly name: string; readonly path: string; readonly variable: V };

/** What lies directly below a prefix, which is empty or ends with a slash: folders first, then variables, each by name. */
export function entriesBelow<V extends Located>(variables: readonly V[], prefix: string): readonly TreeEntry<V>[] {
  const folders = new Map<string, number>();
  const leaves: TreeEntry<V>[] = [];
  for (const variable of variables) {
    if (!variable.Path.startsWith(prefix) || variable.Path === prefix) continue;
    const rest = variable.Path.slice(prefix.length);
    // The first character may be a slash itself: it then belongs to the name.
    const end = rest.indexOf('/', 1);
    if (end === -1) leaves.push({ type: 'variable', name: rest, path: variable.Path, variable });
    else folders.set(rest.slice(0, end), (folders.get(rest.slice(0, end)) ?? 0) + 1);
  }
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  const shownFolders = [...folders].map(([name, count]) => ({
    type: 'folder' as const,
    name,
    path: prefix + name,
    count,
  }));
  return [...shownFolders.sort(byName), ...leaves.sort(byName)];
}

/** The segments of the address of a path. A path with an empty segment is one segment, so that it survives the address. */
export function addressSegments(path: string): readonly string[] {
  const segments = path.split('/');
  return segments.includes('') ? [path] : segments;
}

/** The job whose tasks may read the variable without a policy; undefined when the path belongs to none. */
export function jobOfPath(
  path: string,
): { readonly job: string; readonly group?: string; readonly task?: string } | undefined {
  const [first, second, job, group, task, ...further] = path.split('/');
  if (first !== 'nomad' || second !== 'jobs' || job === undefined || job === '' || further.length > 0) return undefined;
  return { job, ...(group === undefined ? {} : { group }), ...(task === undefined ? {} : { task }) };
}

type Items = Readonly<Record<string, string>>;

/** What one side did with an item since both began. */
type Deed = 'kept' | 'added' | 'changed' | 'removed';

interface ItemDifference {
  readonly name: string;
  readonly mine: Deed;
  readonly theirs: Deed;
  /** Both sides changed it, and not to the same. */
  readonly isConflict: boolean;
}

/** The items that either side changed since `base`, by name. */
export function differences(base: Items, mine: Items, theirs: Items): readonly ItemDifference[] {
  const names = [...new Set([base, mine, theirs].flatMap((items) => Object.keys(items)))].sort();
  return names.flatMap((name) => {
    const [before, own, other] = [base, mine, theirs].map((items) => valueIn(items, name));
    const difference = { name, mine: deed(before, own), theirs: deed(before, other) };
    if (difference.mine === 'kept' && difference.theirs === 'kept') return [];
    const isConflict = difference.mine !== 'kept' && difference.theirs !== 'kept' && own !== other;
    return [{ ...difference, isConflict }];
  });
}

function valueIn(items: Items, name: string): string | undefined {
  return Object.hasOwn(items, name) ? items[name] : undefined;
}

function deed(before: string | undefined, after: string | undefined): Deed {
  if (before === after) return 'kept';
  if (before === undefined) return 'added';
  return after === undefined ? 'removed' : 'changed';
}

/** Their items with my changes. Of an item that both changed, the side of `choices` is taken: mine unless it says otherwise. */
export function merged(
  base: Items,
  mine: Items,
  theirs: Items,
  choices: Readonly<Record<string, 'mine' | 'theirs'>>,
): Items {
  const result = new Map(Object.entries(theirs));
  for (const { name, mine: own, isConflict } of differences(base, mine, theirs)) {
    if (own === 'kept' || (isConflict && choices[name] === 'theirs')) continue;
    const value = valueIn(mine, name);
    if (value === undefined) result.delete(name);
    else result.set(name, value);
  }
  return Object.fromEntries(result);
}

/** A row of the form. */
export interface ItemRow {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

/** The items of the form, or why it cannot be saved. */
export function itemsOfRows(rows: readonly ItemRow[]): { readonly items: Items } | { readonly problem: string } {
  const names = rows.map(({ name }) => name.trim());
  if (names.includes('')) return { problem: 'Each item needs a name.' };
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return { problem: `There are two items with the name ${twice}.` };
  if (rows.length === 0) return { problem: 'A variable needs at least one item.' };
  return { items: Object.fromEntries(rows.map(({ value }, at) => [names[at] ?? '', value])) };
}
