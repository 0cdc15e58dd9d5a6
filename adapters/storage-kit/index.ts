export { type Outcome, type ReadWork, runBatch, runRead, UnpreparedTableError, type WriteWork } from './batches.js';
export { HostTransactionError } from './host-transaction-error.js';
export { type ReadOutcome, type Store, storageOver } from './storage-over.js';
export { type Waiters, waiters } from './waiters.js';
