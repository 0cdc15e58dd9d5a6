import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ok } from 'neverthrow';
import { createHttpHandler, nodeListener } from '../../../adapters/compat/index.js';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createEngine } from '../../../src/index.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';

/*
 * A server with a long list of evaluations: `node long-list-server.mjs <file> <megabytes>`. Prints `listening on ORIGIN` when it
 * is ready.
 */
const [, , file = '', megabytes = '1'] = process.argv;
const storage = (await sqliteStorage(file))._unsafeUnwrap();
const ids = randomIds();
const rowBytes = 4000;
const batch = 1000;

for (let written = 0; written < Number(megabytes) * 1_000_000; written += batch * rowBytes) {
  (
    await storage.write((view) => {
      for (let n = 0; n < batch; n += 1) view.put(evaluations, evaluation(view.index));
      return ok(undefined);
    })
  )._unsafeUnwrap();
}

const engine = createEngine({ storage, clock: systemClock(), ids, delivery: recordingDelivery() });
const server = createServer(nodeListener(createHttpHandler(engine, { access: 'open', hosts: [] })));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

function evaluation(index: number): Evaluation {
  return {
    ID: ids.next('evaluation'),
    Namespace: 'default',
    Priority: 50,
    Type: 'batch',
    TriggeredBy: 'job-register',
    JobID: 'job',
    Status: 'complete',
    StatusDescription: 'x'.repeat(rowBytes),
    CreateIndex: index,
    ModifyIndex: index,
    CreateTime: 0,
    ModifyTime: 0,
  } as Evaluation;
}
