export { type Batch, type Outcome, type TransactionStore, UnpreparedTableError } from './batches.js';
export { type ReadOutcome, type StorageOverOptions, type Store, storageOver } from './storage-over.js';
export { type Waiters, waiters } from './waiters.js';
export { type WriteQueue, type WriteQueueOptions, writeQueue } from './write-queue.js';
