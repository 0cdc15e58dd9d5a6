import { askMany } from './http-load.js';
import type { Measured } from './store-slices.js';
import { jobDocument } from './validate-job.js';

const parent = { ...jobDocument(0), ID: 'parent', Name: 'parent', Type: 'batch', Update: null };
const payload = Buffer.alloc(700, 'x').toString('base64');
const count = 600;
/**
 * A dispatch reaches more code than any other request, which the engine has compiled after about 3,000 of them. Rounds of ours are ten
 * times as long as those of the floor: among many, both have some that nothing else disturbed.
 */
const inRounds = { warmingUp: 4, counted: 21 };

/** `http.dispatch`: instances of one job of about 3.6 KB, each with a payload and meta, in memory; about 10 s. */
export async function run(): Promise<readonly Measured[]> {
  // Loaded by a dynamic import, so that the bundler leaves it beside the program of the servers, which it finds by its own place.
  const { alternate, closeAll, connections, cost, put, quietRow, readers, startServer } = await import('./http.js');
  const floor = await startServer('floor');
  const ours = await startServer('memory');
  try {
    const atFloor = await connections(floor, readers);
    const atOurs = await connections(ours, readers);
    const Job = { ...parent, ParameterizedJob: { Payload: 'optional', MetaOptional: ['order'] } };
    await askMany(atOurs.slice(0, 1), 1, () => put('/v1/jobs', JSON.stringify({ Job })));
    let order = 0;
    const next = (path: string) => () => {
      order += 1;
      return put(path, JSON.stringify({ Payload: payload, Meta: { order: String(order) } }));
    };
    const costs = await alternate(
      {
        floor: () => cost(floor, () => askMany(atFloor, count, next('/parse')), count),
        ours: () => cost(ours, () => askMany(atOurs, count, next('/v1/job/parent/dispatch')), count),
      },
      inRounds,
    );
    closeAll(atFloor, atOurs);
    return [quietRow('http.dispatch', 'µs of processor', costs.ours, costs.floor, { max: 2.2 })];
  } finally {
    for (const server of [floor, ours]) server.child.disconnect();
  }
}
