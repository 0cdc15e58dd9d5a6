import { isRecord } from './transcript.js';

/** Answers that the upstream gives in the order of random ids or of a hash map. */
const unorderedPaths = [
  /^\/v1\/job\/.+\/(allocations|evaluations|deployments|services)/,
  /^\/v1\/(evaluation|node)\/.+\/allocations/,
  /^\/v1\/deployment\/allocations\/.+/,
  /^\/v1\/services?(\/|$)/,
  /^\/v1\/scaling\/policies/,
  /^\/v1\/allocation\/.+\/services/,
];
const unorderedMembers = new Set(['Allocs', 'RelatedEvals', 'ChildStatuses', 'EvalIDs', 'PlacedCanaries']);
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** What tells entries apart that were made by one write; ids count by when they were first seen. */
const distinguishing = [
  ...['Namespace', 'JobID', 'JobVersion', 'Name', 'TaskGroup', 'Group', 'TriggeredBy', 'ServiceName', 'Tags'],
  ...['ClientStatus', 'Status', 'AllocID', 'ID'],
];

type Seen = ReadonlyMap<string, number>;

/** In lists that have an order, only neighbours that were made by one write are exchanged. */
export function inFixedOrder(document: unknown, path: string, seen: Seen): unknown {
  const sorted = membersSorted(document, seen);
  if (path.startsWith('/v1/search/fuzzy') && isRecord(sorted) && isRecord(sorted['Matches'])) {
    const matches = Object.entries(sorted['Matches']);
    const inOrder = matches.map(([kind, list]) => [kind, Array.isArray(list) ? byCreation(list, seen) : list]);
    return { ...sorted, Matches: Object.fromEntries(inOrder) };
  }
  if (!Array.isArray(sorted)) return sorted;
  return unorderedPaths.some((pattern) => pattern.test(path)) ? byCreation(sorted, seen) : tiesSorted(sorted, seen);
}

function membersSorted(value: unknown, seen: Seen): unknown {
  if (Array.isArray(value)) return value.map((one) => membersSorted(one, seen));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]) => {
    const sorted = membersSorted(member, seen);
    return [key, Array.isArray(sorted) && isUnordered(key, sorted, value) ? byCreation(sorted, seen) : sorted];
  });
  return Object.fromEntries(members);
}

/** The services and tags that a job's author wrote have an order, those of the catalogue have none. */
function isUnordered(key: string, list: readonly unknown[], owner: Readonly<Record<string, unknown>>): boolean {
  if (key === 'Services') return list.every((one) => isRecord(one) && 'ServiceName' in one);
  return unorderedMembers.has(key) || (key === 'Tags' && 'ServiceName' in owner);
}

function byCreation(list: readonly unknown[], seen: Seen): readonly unknown[] {
  const keyed = list.map((one) => ({ one, index: indexOf(one), text: JSON.stringify(distinction(one, seen)) ?? '' }));
  keyed.sort((a, b) => a.index - b.index || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
  return keyed.map(({ one }) => one);
}

function tiesSorted(list: readonly unknown[], seen: Seen): readonly unknown[] {
  const runs: unknown[][] = [];
  for (const one of list) {
    const run = runs.at(-1);
    const ties =
      run !== undefined && isRecord(one) && one['CreateIndex'] !== undefined && indexOf(run[0]) === indexOf(one);
    if (ties) run.push(one);
    else runs.push([one]);
  }
  return runs.flatMap((run) => byCreation(run, seen));
}

function indexOf(one: unknown): number {
  return isRecord(one) ? Number(one['CreateIndex'] ?? 0) : 0;
}

function distinction(one: unknown, seen: Seen): unknown {
  const known = (value: unknown): unknown =>
    typeof value === 'string' && uuid.test(value) ? (seen.get(value) ?? Number.MAX_SAFE_INTEGER) : value;
  return isRecord(one) ? distinguishing.map((key) => known(one[key])) : known(one);
}
