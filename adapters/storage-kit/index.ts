export {
  BatchSize,
  type ContentsReader,
  type ContentsWriter,
  copyContents,
  type KeptRow,
  type KeptTable,
} from './contents.js';
export { assertOfHost, assertSynchronous, HostTransactionError, type StoreOwned, usedTwice } from './host-rows.js';
export { type ReadOutcome, type Store, storageOver, type Waiters, waiters } from './storage-over.js';
export { type Outcome, type ReadWork, runBatch, runRead, UnpreparedTableError, type WriteWork } from './write-queue.js';
