import { err, ok, type Result } from 'neverthrow';
import { builtInNodePools, type NodePool } from '../node-pool.js';

/** The requested pool does not exist. */
export interface NodePoolNotFound {
  readonly type: 'node_pool_not_found';
  readonly name: string;
  readonly message: string;
}

/** Why a node pool cannot be read, written or removed: it is invalid, does not exist, is built in, or is in use. */
export type NodePoolError =
  | { readonly type: 'invalid_node_pool'; readonly name: string; readonly message: string }
  | NodePoolNotFound
  | { readonly type: 'node_pool_in_use'; readonly name: string; readonly message: string };

export function nodePoolNotFound(name: string): NodePoolNotFound {
  return { type: 'node_pool_not_found', name, message: 'node pool not found' };
}

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;
const longestDescription = 256;

/** Validates the name and the description of a pool, and whether it may be changed. */
export function checkNodePool(
  pool: Pick<NodePool, 'Name' | 'Description' | 'SchedulerConfiguration' | 'NodeIdentityTTL'>,
): Result<void, NodePoolError> {
  const { Name, Description, SchedulerConfiguration: configuration, NodeIdentityTTL: lifetime = 0 } = pool;
  const problems: string[] = [];
  if (!namePattern.test(Name)) {
    problems.push(`invalid name ${JSON.stringify(Name.slice(0, 140))}, must match regex ${namePattern.source}`);
  }
  if (isBuiltIn(Name)) problems.push(`modifying node pool "${Name}" is not allowed`);
  if (Description.length > longestDescription) problems.push(`description longer than ${longestDescription}`);
  const algorithm = configuration?.SchedulerAlgorithm ?? '';
  if (!['', 'binpack', 'spread'].includes(algorithm)) problems.push(`invalid scheduler algorithm: ${algorithm}`);
  if (!(lifetime >= 0 && Number.isSafeInteger(lifetime))) problems.push('invalid lifetime of node identities');
  return problems.length === 0
    ? ok(undefined)
    : err({
        type: 'invalid_node_pool',
        name: Name.slice(0, 140),
        message: `invalid node pool: ${problems.join('; ')}`,
      });
}

function isBuiltIn(name: string): boolean {
  return builtInNodePools.some(({ Name }) => Name === name);
}
