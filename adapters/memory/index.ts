export { type ManualClock, manualClock } from './manual-clock.js';
export { type MemoryStorageOptions, memoryStorage } from './memory-storage.js';
export { type SequentialIdsOptions, sequentialIds } from './sequential-ids.js';
