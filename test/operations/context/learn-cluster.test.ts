import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal, registerNode } from '../../../src/index.js';
import { learnCluster } from '../../../src/operations/context/learn-cluster.js';
import type { Storage } from '../../../src/ports/storage.js';
import { nodeFrom } from '../../support/nodes.js';

it('reads the cluster once for all who ask meanwhile, and not again', async () => {
  const storage = memoryStorage();
  let reads = 0;
  const read: Storage['read'] = (work) => {
    reads += 1;
    return storage.read(work);
  };
  const ports = { clock: manualClock(), ids: sequentialIds(), delivery: recordingDelivery() };
  const engine = createEngine({ ...ports, storage: { ...storage, read } });
  (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  const before = reads;
  const learned = await Promise.all([learnCluster(engine), learnCluster(engine), learnCluster(engine)]);
  for (const each of learned) each._unsafeUnwrap();
  (await learnCluster(engine))._unsafeUnwrap();
  expect(reads - before).toBe(1);
  expect(engine.cluster.known?.cluster.nodeOf('n1')?.ID).toBe('n1');
});
