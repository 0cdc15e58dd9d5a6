import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsNodePool, type PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { jobs } from '../../jobs/job-record.js';
import { errorsText } from '../../jobs/validation/problems.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import type { Source } from '../../queries/page.js';
import { type Node, nodes } from '../../scheduler/node.js';
import {
  allNodePool,
  builtInNodePools,
  type NodePool,
  type NodePoolSchedulerConfiguration,
  nodePoolDocument,
  nodePools,
  type ReadNodePool,
} from '../../scheduler/node-pool.js';
import {
  checkNodePool,
  type NodePoolError,
  type NodePoolNotFound,
  nodePoolNotFound,
} from '../../scheduler/nodes/check-node-pool.js';
import type { Milliseconds } from '../../shared/duration.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerList, heldSource, type ListAnswer, type ListRequest, namedSource } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import { listNodePools as allNodePools, readNodePool as findNodePool } from '../records/declared-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, noRows, rowsNamed } from '../waiting/parked-queries.js';

/** A complete node pool: omitted members are cleared. */
interface NodePoolInput {
  /** 1 to 128 letters, digits, hyphens and underscores. */
  readonly name: string;
  /** For people. */
  readonly description?: string;
  /** Names and values for people and programs; null and absent: none. */
  readonly meta?: Readonly<Record<string, string>> | null;
  /** Overrides of the installation's scheduler configuration; null and absent: none. */
  readonly schedulerConfiguration?: {
    /** `binpack` or `spread`; the installation's when empty. */
    readonly SchedulerAlgorithm?: string;
    /** The installation's when null. */
    readonly MemoryOversubscriptionEnabled?: boolean | null;
  } | null;
  /** Lifetime of the identities of its nodes; 0 and absent: a day. This server issues none. */
  readonly nodeIdentityTtl?: Milliseconds;
}

/** Creates or replaces a pool; the built-in ones cannot be changed. Returns the index of the write. */
export function putNodePool(
  context: EngineContext,
  caller: Principal,
  input: NodePoolInput,
): ResultAsync<{ readonly index: number }, NodePoolError | StorageError> {
  const { nodeIdentityTtl: lifetime = 0 } = input;
  const pool = {
    Name: input.name,
    Description: input.description ?? '',
    Meta: input.meta ?? null,
    SchedulerConfiguration: configurationOf(input),
    ...(lifetime === 0 ? {} : { NodeIdentityTTL: Math.round(lifetime * 1_000_000) }),
  };
  const checked = checkNodePool(pool);
  if (checked.isErr()) return errAsync(checked.error);
  return commit(context, caller, (tx) => {
    const before = tx.get(nodePools, [pool.Name])?.record;
    tx.put(nodePools, { ...pool, CreateIndex: before?.CreateIndex ?? tx.index, ModifyIndex: tx.index });
    // No capacity signal: neither the algorithm nor oversubscription frees capacity.
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

/** Removes a pool that has no nodes and no live jobs. */
export function removeNodePool(
  context: EngineContext,
  caller: Principal,
  { name }: { readonly name: string },
): ResultAsync<{ readonly index: number }, NodePoolError | StorageError> {
  return commit(context, caller, (tx): Result<void, NodePoolError> => {
    const fault = faultOfRemoval(tx, name, context.settings.jobs.region);
    if (fault !== undefined) return err(fault);
    tx.remove(nodePools, [name]);
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

/** A page of the pools that the caller may read, by name. */
export function listNodePools(
  context: EngineContext,
  caller: Principal,
  input: ListRequest & MayWait = {},
): ListAnswer<ReadNodePool> {
  const { prefix = '' } = input;
  const isSeen = ({ Name }: NodePool) => allowsNodePool(caller, Name, 'read');
  const list = {
    key: ['node-pools', caller.management ? 'all' : (caller.nodePools ?? {})],
    tables: caller.management || caller.nodePools !== undefined ? [nodePools] : [noRows(nodePools)],
    source: (view: ReadView) =>
      heldSource(allNodePools(view, prefix).filter(isSeen).map(nodePoolDocument), input, ({ Name }) => Name),
    filters: compileFilter.nodePool,
    filtered: (_: ReadView, pool: ReadNodePool) => pool,
    show: (_: ReadView, pool: ReadNodePool) => pool,
  };
  return answerList(context, input, list);
}

/** One pool; undefined when there is none. */
export function readNodePool(
  context: EngineContext,
  _caller: Principal,
  { name, waiting }: MayWait & { readonly name: string },
): ResultAsync<Answer<ReadNodePool | undefined>, StorageError> {
  const run = (view: ReadView): { index: number; value: ReadNodePool | undefined } => {
    const pool = findNodePool(view, name);
    const value = pool && nodePoolDocument(pool);
    return { index: value?.ModifyIndex ?? view.tableIndex(nodePools), value };
  };
  return answerQuery(
    context,
    { key: JSON.stringify(['node-pool', name]), tables: rowsNamed(nodePools, [name]), run },
    waiting,
  );
}

/** A page of the nodes of a pool, by ID. */
export function listNodePoolNodes(
  context: EngineContext,
  caller: Principal,
  input: ListRequest & MayWait & { readonly name: string },
): ListAnswer<Row<Node>, PermissionDenied | NodePoolNotFound> {
  const { name } = input;
  if (!allowsNodePool(caller, name, 'read')) return errAsync({ type: 'permission_denied' });
  const list = {
    key: ['node-pool-nodes', name],
    tables: [nodes],
    source: (view: ReadView) => sourceOfPool(view, name, input),
    filters: compileFilter.node,
    filtered: (_: ReadView, { record }: Row<Node>) => record,
    show: (_: ReadView, row: Row<Node>) => row,
  };
  return context.storage
    .read((view) => findNodePool(view, name) !== undefined)
    .andThen((isThere) => (isThere ? ok(undefined) : err(nodePoolNotFound(name))))
    .andThen(() => answerList(context, input, list));
}

function sourceOfPool(view: ReadView, name: string, input: ListRequest): Source<Row<Node>> {
  if (name === allNodePool) return namedSource(view, nodes, input);
  const members = view.list(nodes, { index: 'by_pool', prefix: [name] });
  return heldSource(members, input, ({ record }) => record.ID);
}

/** Unknown algorithms are refused by `checkNodePool`. */
function configurationOf({ schedulerConfiguration: given }: NodePoolInput): NodePoolSchedulerConfiguration | null {
  if (given === undefined || given === null) return null;
  const algorithm = (given.SchedulerAlgorithm ?? '') as NodePoolSchedulerConfiguration['SchedulerAlgorithm'];
  return {
    SchedulerAlgorithm: algorithm,
    MemoryOversubscriptionEnabled: given.MemoryOversubscriptionEnabled ?? null,
  };
}

function faultOfRemoval(view: ReadView, name: string, region: string): NodePoolError | undefined {
  if (findNodePool(view, name) === undefined) {
    return { type: 'node_pool_not_found', name, message: `node pool "${name.slice(0, 140)}" not found` };
  }
  const inUse = (what: string): NodePoolError => {
    const message = errorsText([`node pool "${name}" has ${what} in regions: [${region}]`]);
    return { type: 'node_pool_in_use', name, message };
  };
  if (view.list(nodes, { index: 'by_pool', prefix: [name], limit: 1 }).length > 0) return inUse('nodes');
  if (view.list(jobs).some(({ record }) => record.NodePool === name && record.Status !== 'dead')) {
    return inUse('non-terminal jobs');
  }
  if (builtInNodePools.some(({ Name }) => Name === name)) {
    return { type: 'invalid_node_pool', name, message: `deleting node pool "${name}" is not allowed` };
  }
  return undefined;
}
