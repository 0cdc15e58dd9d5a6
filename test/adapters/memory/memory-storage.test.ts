import { describe, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { storageConformance } from '../../conformance/storage/index.js';

describe('memory storage', () => {
  storageConformance(test, { open: async () => memoryStorage() });
});

describe('memory storage that keeps no parsed values', () => {
  storageConformance(test, { open: async () => memoryStorage({ parsedBudget: 0 }) });
});
