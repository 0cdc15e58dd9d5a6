export { UnpreparedTableError } from './batches.js';
export { type ReadOutcome, type Store, storageOver } from './storage-over.js';
export type { Waiters } from './waiters.js';
