import type { StorageError } from '../ports/storage.js';

/**
 * A record, a key or a query that no store accepts. Views throw it through the work function, because a put
 * has no result; the write then fails with `invalid_record`. The message names the table and contains no data of the record.
 */
export class UnstorableError extends Error {}

/**
 * A stored string that is invalid JSON, which only damage can cause. Thrown by a row at its first access, through the work function;
 * the read or write then fails with `corrupt`.
 */
export class DamagedRowError extends Error {}

export function storageFailure(reason: StorageError['reason'], message: string): StorageError {
  return { type: 'storage_failed', reason, message };
}

/** The beginning of the message of a store whose server has been away for as long as callers wait. Loops that meet it log it. */
export const awayMessage = 'The database server has not answered for';

export function closedFailure(): StorageError {
  return storageFailure('closed', 'The store is closed.');
}

/** The port's error for an exception of this folder's views; undefined for any other exception. */
export function failureOfRecord(thrown: unknown): StorageError | undefined {
  if (thrown instanceof UnstorableError) return storageFailure('invalid_record', thrown.message);
  if (thrown instanceof DamagedRowError) return storageFailure('corrupt', thrown.message);
  return undefined;
}
