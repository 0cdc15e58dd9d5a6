import { describe, expect, it } from 'vitest';
import { sequentialIds } from '../../../adapters/memory/sequential-ids.js';
import { idsConformance } from '../../conformance/ids/index.js';

describe('sequentialIds', () => {
  idsConformance(it, sequentialIds);

  it('gives the same ids in every run', () => {
    const ids = sequentialIds();
    expect([ids.next('evaluation'), ids.next('evaluation'), ids.next('notification_configuration')]).toEqual([
      'e0000001-0000-4000-8000-000000000001',
      'e0000002-0000-4000-8000-000000000002',
      'nc-1111111111111112',
    ]);
    expect(ids.next('dispatch_suffix')).toBe('00000001');
  });

  it('counts each kind by itself', () => {
    const ids = sequentialIds();
    for (let count = 0; count < 57; count += 1) ids.next('run');
    ids.next('workspace');
    expect(ids.next('run')).toBe('run-1111111111111121');
    expect(ids.next('workspace')).toBe('ws-1111111111111113');
  });

  it('gives no jitter unless told', () => {
    expect(sequentialIds().fraction()).toBe(0.5);
    expect(sequentialIds({ fraction: 0 }).fraction()).toBe(0);
    const rising = sequentialIds({ fraction: (n) => n / 10 });
    expect([rising.fraction(), rising.fraction()]).toEqual([0.1, 0.2]);
  });
});
