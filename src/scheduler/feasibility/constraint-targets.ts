import type { Node } from '../node.js';

/** The value of one side of a constraint on a node. `value` is empty when nothing is found. */
export interface ResolvedTarget {
  readonly value: string;
  readonly found: boolean;
}

/** The properties of a node that constraints can name. */
export type ConstraintSubject = Pick<
  Node,
  'ID' | 'Name' | 'Datacenter' | 'NodeClass' | 'NodePool' | 'Attributes' | 'Meta'
>;

const NOT_FOUND: ResolvedTarget = { value: '', found: false };

/** The names as written after `${`, including the closing brace. */
const NODE_MEMBERS = new Map([
  ['node.unique.id}', 'ID'],
  ['node.unique.name}', 'Name'],
  ['node.datacenter}', 'Datacenter'],
  ['node.class}', 'NodeClass'],
  ['node.pool}', 'NodePool'],
] as const) as ReadonlyMap<string, 'ID' | 'Name' | 'Datacenter' | 'NodeClass' | 'NodePool'>;

/**
 * Resolves a target such as `${node.datacenter}`, `${attr.kernel.name}` or `${meta.rack}` on the node. A value that does not begin with
 * `${` is a literal; any other name is not found. The closing brace may be missing after `attr` and `meta`.
 */
export function resolveTarget(target: string, node: ConstraintSubject): ResolvedTarget {
  if (!target.startsWith('${')) return { value: target, found: true };
  const name = target.slice('${'.length);
  const member = NODE_MEMBERS.get(name);
  if (member !== undefined) return { value: node[member], found: true };
  if (name.startsWith('attr.')) return entry(node.Attributes, name.slice('attr.'.length));
  if (name.startsWith('meta.')) return entry(node.Meta, name.slice('meta.'.length));
  return NOT_FOUND;
}

function entry(entries: Readonly<Record<string, string>> | null, braced: string): ResolvedTarget {
  const name = braced.endsWith('}') ? braced.slice(0, -1) : braced;
  if (entries === null || !Object.hasOwn(entries, name)) return NOT_FOUND;
  return { value: entries[name] ?? '', found: true };
}
