import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsNodePool } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { jobs } from '../../jobs/job-record.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Node, nodes } from '../../scheduler/node.js';
import {
  allNodePool,
  builtInNodePools,
  type NodePoolSchedulerConfiguration,
  nodePools,
  type ReadNodePool,
  withHash,
} from '../../scheduler/node-pool.js';
import { checkNodePool, type NodePoolError } from '../../scheduler/nodes/check-node-pool.js';
import { authoriseArea, authoriseNodePool, type PermissionDenied } from '../authorise.js';
import { listNodePools as allNodePools, readNodePool as findNodePool } from '../books/node-pool-rows.js';
import { signalCapacity } from '../books/scheduling/put-allocation.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerQuery, type Waiting } from '../waiting/blocking-query.js';
import type { Answer } from '../waiting/parked-queries.js';

/** All that is known of a node pool: what is left out is removed from it. */
export interface NodePoolInput {
  /** 1 to 128 letters, digits, hyphens and underscores. */
  readonly name: string;
  /** For people. */
  readonly description?: string;
  /** Names and texts for people and programs; null and absent: none. */
  readonly meta?: Readonly<Record<string, string>> | null;
  /** What differs from the installation; null and absent: nothing. */
  readonly schedulerConfiguration?: {
    /** `binpack`, `spread`, or empty: as the installation has it. */
    readonly SchedulerAlgorithm?: string;
    /** Null: as the installation has it. */
    readonly MemoryOversubscriptionEnabled?: boolean | null;
  } | null;
}

/** Makes a pool, or replaces what is known of it; the built-in ones cannot be changed. Gives the index of the write. */
export function putNodePool(
  context: EngineContext,
  caller: Principal,
  input: NodePoolInput,
): ResultAsync<{ readonly index: number }, PermissionDenied | NodePoolError | StorageError> {
  const allowed = authoriseNodePool(caller, input.name, 'write');
  if (allowed.isErr()) return errAsync(allowed.error);
  const pool = {
    Name: input.name,
    Description: input.description ?? '',
    Meta: input.meta ?? null,
    SchedulerConfiguration: configurationOf(input),
  };
  const checked = checkNodePool(pool);
  if (checked.isErr()) return errAsync(checked.error);
  return commit(context, caller, (tx) => {
    const before = tx.get(nodePools, [pool.Name])?.record;
    tx.put(nodePools, { ...pool, CreateIndex: before?.CreateIndex ?? tx.index, ModifyIndex: tx.index });
    // Work that waits for room may fit under another configuration.
    signalCapacity(tx);
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

/** Removes a pool that has no nodes and no live jobs. */
export function removeNodePool(
  context: EngineContext,
  caller: Principal,
  { name }: { readonly name: string },
): ResultAsync<{ readonly index: number }, PermissionDenied | NodePoolError | StorageError> {
  const allowed = authoriseNodePool(caller, name, 'delete');
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(context, caller, (tx): Result<void, NodePoolError> => {
    const fault = faultOfRemoval(tx, name, context.settings.jobs.region);
    if (fault !== undefined) return err(fault);
    tx.remove(nodePools, [name]);
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

/** The pools that the caller may read and whose names begin with the prefix, by name. */
export function listNodePools(
  context: EngineContext,
  caller: Principal,
  input: { readonly prefix?: string } = {},
  waiting: Waiting = {},
): ResultAsync<Answer<readonly ReadNodePool[]>, StorageError> {
  const { prefix = '' } = input;
  const run = (view: ReadView): { index: number; value: readonly ReadNodePool[] } => {
    const value = allNodePools(view, prefix)
      .filter(({ Name }) => allowsNodePool(caller, Name, 'read'))
      .map(withHash);
    return { index: view.tableIndex(nodePools), value };
  };
  const rights = caller.management ? 'all' : (caller.nodePools ?? {});
  const key = JSON.stringify(['node-pools', prefix, rights]);
  return answerQuery(context, { key, tables: [nodePools], run }, waiting);
}

/** One pool; undefined when there is none. */
export function readNodePool(
  context: EngineContext,
  caller: Principal,
  { name }: { readonly name: string },
  waiting: Waiting = {},
): ResultAsync<Answer<ReadNodePool | undefined>, PermissionDenied | StorageError> {
  const allowed = authoriseNodePool(caller, name, 'read');
  if (allowed.isErr()) return errAsync(allowed.error);
  const run = (view: ReadView): { index: number; value: ReadNodePool | undefined } => {
    const pool = findNodePool(view, name);
    const value = pool && withHash(pool);
    return { index: value?.ModifyIndex ?? view.tableIndex(nodePools), value };
  };
  return answerQuery(context, { key: JSON.stringify(['node-pool', name]), tables: [nodePools], run }, waiting);
}

/** The nodes of a pool, by id; undefined when there is no such pool. */
export function listNodePoolNodes(
  context: EngineContext,
  caller: Principal,
  { name }: { readonly name: string },
  waiting: Waiting = {},
): ResultAsync<Answer<readonly Node[] | undefined>, PermissionDenied | StorageError> {
  const allowed = authoriseArea(caller, 'node', 'read').andThen(() => authoriseNodePool(caller, name, 'read'));
  if (allowed.isErr()) return errAsync(allowed.error);
  const run = (view: ReadView): { index: number; value: readonly Node[] | undefined } => {
    const query = name === allNodePool ? {} : { index: 'by_pool', prefix: [name] };
    const value = findNodePool(view, name) && view.list(nodes, query).map(({ record }) => record);
    return { index: view.tableIndex(nodes), value };
  };
  const key = JSON.stringify(['node-pool-nodes', name]);
  return answerQuery(context, { key, tables: [nodes, nodePools], run }, waiting);
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
    const message = `1 error occurred:\n\t* node pool "${name}" has ${what} in regions: [${region}]\n\n`;
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
