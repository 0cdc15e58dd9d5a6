// Distributes modules among files that entries share. Each file costs loading time, and so does code that an entry does not need.

/** The cost of a file, as the number of characters that load in the same time. */
const costOfFile = 33_000;

/**
 * The file of every module other than entries. Modules needed by the same entries start in one file; files are then merged as long as
 * that reduces the loading cost. Files never import each other cyclically, and an entry without Node modules gets none.
 *
 * `modules`: by ID, the `size` in characters, the IDs of its static `imports`, whether it is `ofNode`. `roots`: by ID, the weight of each
 * module that can be loaded separately.
 */
export function chunksOf(modules, roots) {
  const ids = [...roots.keys()];
  const masks = new Map([...modules.keys()].map((id) => [id, 0n]));
  ids.forEach((root, at) => {
    for (const id of reachable(root, (module) => modules.get(module)?.imports ?? [])) {
      if (modules.has(id)) masks.set(id, masks.get(id) | (1n << BigInt(at)));
    }
  });

  const byMask = groupBy([...modules.keys()], (id) => (roots.has(id) ? `root ${id}` : String(masks.get(id))));
  let chunks = [...byMask.values()].map((members) => ({
    members,
    mask: masks.get(members[0]),
    size: members.reduce((sum, id) => sum + modules.get(id).size, 0),
    ofNode: members.some((id) => modules.get(id).ofNode),
    isRoot: roots.has(members[0]),
  }));
  for (const chunk of chunks) linkTo(chunks, chunk, modules);
  const nodeFree = ids.reduce((mask, _, at) => (chunks.some((c) => c.ofNode && has(c.mask, at)) ? mask : mask | (1n << BigInt(at))), 0n);
  const weightOf = (mask) => ids.reduce((sum, id, at) => (has(mask, at) ? sum + roots.get(id) : sum), 0);

  for (;;) {
    const best = cheapestUnion(chunks, nodeFree, weightOf);
    if (best === undefined) break;
    chunks = united(chunks, best);
  }
  const names = new Map();
  chunks.filter(({ isRoot }) => !isRoot).forEach((chunk, at) => chunk.members.forEach((id) => names.set(id, `shared-${at + 1}`)));
  return names;
}

const has = (mask, at) => ((mask >> BigInt(at)) & 1n) === 1n;

function reachable(from, next) {
  const found = new Set([from]);
  for (const each of found) for (const other of next(each)) found.add(other);
  return found;
}

function linkTo(chunks, chunk, modules) {
  const imported = new Set(chunk.members.flatMap((id) => modules.get(id).imports));
  chunk.imports = new Set(chunks.filter((other) => other !== chunk && other.members.some((id) => imported.has(id))));
}

/** The pair of files whose merge saves most, or undefined if none saves anything. */
function cheapestUnion(chunks, nodeFree, weightOf) {
  const below = new Map(chunks.map((chunk) => [chunk, reachable(chunk, (each) => each.imports)]));
  let best;
  for (const a of chunks) {
    for (const b of chunks) {
      if (a === b || a.isRoot || b.isRoot || a.size > b.size) continue;
      const saved = -costOfUnion(a, b, below, { nodeFree, weightOf });
      if (saved > 0 && saved > (best?.saved ?? 0)) best = { a, b, saved, below };
    }
  }
  return best;
}

function costOfUnion(a, b, below, { nodeFree, weightOf }) {
  // A path from one to the other through a third file would become a cycle.
  for (const [from, to] of [[a, b], [b, a]]) {
    for (const next of from.imports) if (next !== to && below.get(next).has(to)) return Infinity;
  }
  const mask = a.mask | b.mask;
  let cost = weightOf(mask) * (costOfFile + a.size + b.size);
  for (const each of [a, b]) cost -= weightOf(each.mask) * (costOfFile + each.size);
  for (const each of new Set([...below.get(a), ...below.get(b)])) {
    if (each.ofNode && (mask & nodeFree) !== 0n) return Infinity;
    if (each !== a && each !== b) cost += weightOf(mask & ~each.mask) * (costOfFile + each.size);
  }
  return cost;
}

function united(chunks, { a, b, below }) {
  const mask = a.mask | b.mask;
  for (const each of [...below.get(a), ...below.get(b)]) each.mask |= mask;
  const both = {
    members: [...a.members, ...b.members],
    mask,
    size: a.size + b.size,
    ofNode: a.ofNode || b.ofNode,
    isRoot: false,
    imports: new Set([...a.imports, ...b.imports].filter((each) => each !== a && each !== b)),
  };
  const left = chunks.filter((each) => each !== a && each !== b);
  for (const each of left) if (each.imports.delete(a) | each.imports.delete(b)) each.imports.add(both);
  return [...left, both];
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
