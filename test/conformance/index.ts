/*
 * The suites that your adapter must pass. Each accepts your runner's test function (`it` of Vitest, Jest or
 * node:test) and the adapter, and depends on nothing but node:assert.
 */
export { type ClockSubject, clockConformance } from './clock/index.js';
export {
  type DeliveryBehaviour,
  type DeliveryStage,
  type DeliverySubject,
  deliveryConformance,
} from './delivery/index.js';
export { idsConformance } from './ids/index.js';
export { type StorageSubject, storageConformance, type TestFunction } from './storage/index.js';
