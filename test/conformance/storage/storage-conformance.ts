import { indexCases } from './index-cases.js';
import { keyCases } from './key-cases.js';
import { lifetimeCases, sharingCases } from './lifetime-cases.js';
import { listCases } from './list-cases.js';
import { recordCases } from './record-cases.js';
import type { StorageSubject, TestFunction } from './storage-subject.js';
import { waitingCases } from './waiting-cases.js';
import { writeCases } from './write-cases.js';

/**
 * What the library requires of a storage, for any adapter and test runner: pass the runner's `test` and a function
 * to open stores. Cases that need `reopen` or `share` are declared only when the subject has them.
 */
export function storageConformance(test: TestFunction, subject: StorageSubject): void {
  keyCases(test, subject);
  listCases(test, subject);
  indexCases(test, subject);
  writeCases(test, subject);
  recordCases(test, subject);
  waitingCases(test, subject);
  lifetimeCases(test, subject);
  sharingCases(test, subject);
}
