import { expect, it } from 'vitest';
import { newNodePool, nodePoolHash } from '../../src/scheduler/node-pool.js';

it('the hash of a pool changes with what is set of it, and with nothing else', () => {
  const pool = { ...newNodePool('gpu', 3, 'with cards'), Meta: { rack: '7', row: '2' } };
  const hash = nodePoolHash(pool);
  expect(Buffer.from(hash, 'base64')).toHaveLength(32);
  expect(nodePoolHash({ ...pool, Meta: { row: '2', rack: '7' }, CreateIndex: 9, ModifyIndex: 12 })).toBe(hash);
  expect(nodePoolHash({ ...pool, Description: '' })).not.toBe(hash);
  expect(nodePoolHash({ ...pool, Meta: null })).not.toBe(hash);
  expect(nodePoolHash({ ...pool, NodeIdentityTTL: 1 })).not.toBe(hash);
  const configuration = { SchedulerAlgorithm: 'spread', MemoryOversubscriptionEnabled: null } as const;
  expect(nodePoolHash({ ...pool, SchedulerConfiguration: configuration })).not.toBe(hash);
});
