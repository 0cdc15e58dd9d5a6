// An engine on a virtual clock with many jobs, and its page, in a thread of its own: what the server does is no work of the test's.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { createHttpHandler, nodeListener } from '../../dist/http-server.js';
import { hostPrincipal, orThrow } from '../../dist/index.js';
import { testEngine } from '../../dist/testing.js';

/** Starts it. `ask` calls one of `answers` below. */
export async function startEngineWorker(data) {
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  const waiting = new Map();
  let asked = 0;
  const answered = new Promise((resolve, reject) => {
    worker.on('error', reject);
    worker.on('message', ({ url, id, value, error }) => {
      if (url !== undefined) resolve(url);
      else if (error === undefined) waiting.get(id).resolve(value);
      else waiting.get(id).reject(new Error(error));
    });
  });
  const ask = (name, ...args) =>
    new Promise((resolve, reject) => {
      waiting.set(++asked, { resolve, reject });
      worker.postMessage({ id: asked, name, args });
    });
  return { url: await answered, ask, ended: () => worker.terminate() };
}

if (parentPort !== null && workerData?.start !== undefined) {
  const world = await testEngine({ start: Date.parse(workerData.start), functions: { nothing: () => 1 } });
  const box = world.engine.as(hostPrincipal);
  const group = { Name: 'g', Tasks: [{ Name: 'main', Driver: 'function', Config: { function: 'nothing' } }] };
  const parent = { Type: 'batch', Datacenters: ['*'], TaskGroups: [group] };
  const named = (at) => `job-${String(at).padStart(5, '0')}`;
  const answers = {
    /** Registers another version of each of these jobs. */
    change: async (ids, note) => {
      for (const ID of ids) await orThrow(box.jobs.register({ ...parent, ID, ParameterizedJob: {}, Meta: { note } }));
    },
    register: async (jobs) => {
      for (const job of jobs) await orThrow(box.jobs.register({ ...parent, ...job }));
    },
    advance: (milliseconds) => world.advance(milliseconds),
    list: async (options) => (await orThrow(box.jobs.list(options))).value.items.map(({ ID }) => ID),
  };
  for (let at = 0; at < workerData.jobs; at++)
    await orThrow(box.jobs.register({ ...parent, ID: named(at), ParameterizedJob: {} }));
  // Times of more than a day do not count on.
  await world.advance(2 * 86_400_000);
  parentPort.on('message', async ({ id, name, args }) => {
    try {
      parentPort.postMessage({ id, value: await answers[name](...args) });
    } catch (error) {
      parentPort.postMessage({ id, error: String(error) });
    }
  });
  const server = createServer(nodeListener(createHttpHandler(world.engine, { access: 'open', page: true })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  parentPort.postMessage({ url: `http://127.0.0.1:${server.address().port}` });
}
