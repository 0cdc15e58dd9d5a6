// A function of your service, every night at three and once now.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentPorts, createEngine, hostPrincipal, orThrow } from 'signalbox';
import { randomIds, systemClock } from 'signalbox/node';
import { createRunner, functionDriver } from 'signalbox/runner';
import { sqliteStorage } from 'signalbox/sqlite';
import { undiciDelivery } from 'signalbox/undici';

const folder = mkdtempSync(join(tmpdir(), 'nightly-function-'));
const storage = await orThrow(sqliteStorage(join(folder, 'jobs.sqlite')));
const delivery = undiciDelivery();
const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery });
const ran = Promise.withResolvers?.() ?? later();
const report = ({ log, meta }) => {
  log.info(`report for ${meta.customer}`); // goes to the log of the run
  ran.resolve(meta.customer);
};
const runner = createRunner(agentPorts(engine), { directory: folder, drivers: [functionDriver({ report })] });
engine.start();
await orThrow(runner.start());

const { jobs } = engine.as(hostPrincipal);
const task = { Name: 'report', Driver: 'function', Config: { function: 'report' }, Meta: { customer: 'acme' } };
const periodic = { Spec: '0 3 * * *', TimeZone: 'Europe/Berlin' };
await orThrow(
  jobs.register({ ID: 'nightly', Type: 'batch', Periodic: periodic, TaskGroups: [{ Name: 'main', Tasks: [task] }] }),
);
await orThrow(jobs.forceLaunch('nightly'));
console.log('reported for', await ran.promise);

await runner.stop();
await engine.stop();
await delivery.close();
await storage.close();

function later() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}
