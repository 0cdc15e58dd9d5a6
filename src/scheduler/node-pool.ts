import { contentDigest } from '../jobs/content-digest.js';
import { table } from '../shared/table.js';
import type { SchedulerAlgorithm, SchedulerConfiguration } from './scheduler-configuration.js';

/** Scheduler settings that a pool overrides; null inherits the installation's setting. */
export interface NodePoolSchedulerConfiguration {
  /** Empty: inherits the installation's. */
  readonly SchedulerAlgorithm: SchedulerAlgorithm | '';
  /** Null: inherits the installation's. */
  readonly MemoryOversubscriptionEnabled: boolean | null;
}

/** A set of nodes that jobs select by name. Every node is in exactly one. */
export interface NodePool {
  /** Unique. `default` and `all` are built in. */
  readonly Name: string;
  /** For display. */
  readonly Description: string;
  /** User-defined names and values; null for none. */
  readonly Meta: Readonly<Record<string, string>> | null;
  /** Overrides of the installation's configuration; null for none. */
  readonly SchedulerConfiguration: NodePoolSchedulerConfiguration | null;
  /** Lifetime of the identities of its nodes, in nanoseconds; absent: a day. This server issues none. */
  readonly NodeIdentityTTL?: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

export const nodePools = table<NodePool>('node_pools', (pool) => [pool.Name]);

/** `default`: the pool of nodes and jobs that name none. `all`: contains every node. Both always exist. */
const defaultNodePool = 'default';
export const allNodePool = 'all';

/** A pool without own settings. */
export function newNodePool(name: string, index: number, description = ''): NodePool {
  return {
    Name: name,
    Description: description,
    Meta: null,
    SchedulerConfiguration: null,
    CreateIndex: index,
    ModifyIndex: index,
  };
}

/** A pool as the interface shows it. */
export interface ReadNodePool extends NodePool {
  /** Changes with the pool's settings. */
  readonly Hash: string;
  /** Lifetime of the identities of its nodes, in nanoseconds. This server issues none. */
  readonly NodeIdentityTTL: number;
}

/** Lifetime of node identities for pools that set none: a day, in nanoseconds. */
const identityLifetime = 86_400_000_000_000;

export function nodePoolDocument(pool: NodePool): ReadNodePool {
  return { NodeIdentityTTL: identityLifetime, Hash: nodePoolHash(pool), ...pool };
}

/** Base64 of 32 bytes; equal for pools with the same settings. */
export function nodePoolHash(pool: NodePool): string {
  const { Name, Description, Meta, SchedulerConfiguration, NodeIdentityTTL } = pool;
  const meta = Object.entries(Meta ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  const lifetime = NodeIdentityTTL === undefined ? [] : [NodeIdentityTTL];
  return contentDigest([Name, Description, SchedulerConfiguration, meta, ...lifetime]);
}

/** The two pools that always exist. */
export const builtInNodePools: readonly NodePool[] = [
  newNodePool(allNodePool, 1, 'Node pool with all nodes in the cluster.'),
  newNodePool(defaultNodePool, 1, 'Default node pool.'),
];

/** The installation's configuration with the pool's overrides applied. */
export function configurationOfPool(
  configuration: SchedulerConfiguration,
  pool: NodePool | undefined,
): SchedulerConfiguration {
  const own = pool?.SchedulerConfiguration;
  if (own === undefined || own === null) return configuration;
  return {
    ...configuration,
    SchedulerAlgorithm: own.SchedulerAlgorithm === '' ? configuration.SchedulerAlgorithm : own.SchedulerAlgorithm,
    MemoryOversubscriptionEnabled: own.MemoryOversubscriptionEnabled ?? configuration.MemoryOversubscriptionEnabled,
  };
}
