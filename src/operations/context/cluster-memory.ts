import type { Result } from 'neverthrow';
import type { StorageError } from '../../ports/storage.js';
import type { KnownCluster } from '../books/scheduling/known-cluster.js';

/** What an engine knows of the cluster, from one decision to the next. */
export class ClusterMemory {
  #known: KnownCluster | undefined;
  #reading: Promise<Result<undefined, StorageError>> | undefined;

  /** Undefined until it was read for the first time. */
  get known(): KnownCluster | undefined {
    return this.#known;
  }

  /** Reads it, or what has changed. Whoever asks meanwhile gets the same reading. */
  learn(read: () => Promise<Result<undefined, StorageError>>): Promise<Result<undefined, StorageError>> {
    this.#reading ??= read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Takes what was read from a committed state, or made by a write that has succeeded, unless something newer is known. */
  remember(known: KnownCluster): void {
    const before = this.#known;
    const isOlder =
      before !== undefined &&
      (known.allocationsIndex < before.allocationsIndex || known.nodesIndex < before.nodesIndex);
    if (!isOlder) this.#known = known;
  }
}
