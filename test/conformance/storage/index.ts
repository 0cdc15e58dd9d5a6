export { storageConformance } from './storage-conformance.js';
export type { StorageSubject, TestFunction } from './storage-subject.js';
