import type { Result } from 'neverthrow';
import type { StorageError } from '../../ports/storage.js';
import type { KnownCluster } from '../records/scheduling/known-cluster.js';

/** The engine's cache of the cluster, kept between decisions. */
export class ClusterMemory {
  #known: KnownCluster | undefined;
  #reading: Promise<Result<undefined, StorageError>> | undefined;

  /** Undefined until it was read for the first time. */
  get known(): KnownCluster | undefined {
    return this.#known;
  }

  /** Reads it, or its changes. Concurrent callers share one reading. */
  learn(read: () => Promise<Result<undefined, StorageError>>): Promise<Result<undefined, StorageError>> {
    this.#reading ??= read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Stores a cluster of a committed state, unless a newer one is cached. */
  remember(known: KnownCluster): void {
    const before = this.#known;
    const isOlder =
      before !== undefined &&
      (known.allocationsIndex < before.allocationsIndex || known.nodesIndex < before.nodesIndex);
    if (!isOlder) this.#known = known;
  }
}
