export { type ManualClock, manualClock } from './manual-clock.js';
export { type SequentialIdsOptions, sequentialIds } from './sequential-ids.js';
