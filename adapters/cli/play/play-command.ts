import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { messageOf } from '../../../src/shared/values.js';
import { createHttpHandler, nodeListener, upgradeListener } from '../../compat/index.js';
import { type TestEngine, testEngine } from '../../testing/index.js';
import { isLoopback, listening, listenParts } from '../addresses.js';
import { numberOption } from '../commands/option-values.js';
import { firstSignal } from '../first-signal.js';
import { drainServer } from '../serve/drain-server.js';
import { doubleDashed } from '../settings/read-flags.js';
import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';
import { Playground } from './playground.js';

export const playUsage = `signalbox play [FILE] [--listen HOST:PORT] [--nodes COUNT] [--batch-seconds SECONDS]

Serves the web page and both interfaces over an installation in memory whose clock stands still until you move it, on the page: forwards, or
back to any time since its start. FILE is what signalbox export has written; it is only read. Without it the cluster is empty.

Nothing happens outside: agents are simulated, no task runs, and notifications are recorded and answered with 204. Services run until they
are stopped; tasks of batch jobs end successfully after --batch-seconds. What you change is lost when time goes back and when the command
ends. Every caller may do everything: on an address other than loopback, whoever reaches it sees what FILE contains.

  --listen HOST:PORT       address to listen on (127.0.0.1:4747); port 0: a free port
  --nodes COUNT            further simulated nodes with 10,000 MHz and 8 GiB, at most 100 (3 without FILE, 0 with it)
  --batch-seconds SECONDS  how long tasks of batch jobs take (60)
`;

/** Milliseconds that pending requests may take after a signal. */
const stopGrace = 800;

/** `signalbox play`: serves until SIGTERM or SIGINT. */
export async function playCommand(given: readonly string[], terminal: Terminal): Promise<number> {
  const { file, host, port, nodes, batchSeconds } = optionsFrom(given);
  const signalled = firstSignal();
  const server = createServer();
  const origin = await listening(server, { host, port });
  const start = Math.floor(Date.now() / 60_000) * 60_000;
  const make = (): Promise<TestEngine> =>
    testEngine({
      ...(file === undefined ? { start } : { from: file }),
      ...{ nodes, settings: { notifications: { publicOrigin: origin } } },
      behaviour: ({ JobType }) => (JobType.endsWith('batch') ? { ends: 'complete', after: batchSeconds * 1000 } : {}),
    });
  let shown: Shown | undefined;
  const playground = await Playground.begin(file ?? 'an empty cluster', { make, leave: () => shown?.release() }).catch(
    (error: unknown) => {
      server.close();
      throw new Stopped(messageOf(error));
    },
  );
  /** What shows the present installation. */
  const current = (): Shown => {
    if (shown?.world !== playground.world) shown = shownBy(playground, host);
    return shown;
  };
  server
    .on('request', (request, response) => current().listener(request, response))
    .on('upgrade', (request, socket, head) => current().upgrades(request, socket, head));
  if (!isLoopback(host)) terminal.error(`signalbox: whoever reaches ${origin} sees and changes everything here\n`);
  terminal.out(`listening on ${origin}\nweb page: ${origin}/ui/\n`);
  const failure = await Promise.race([signalled, playground.failure]);
  await drainServer(server, () => shown?.release(), stopGrace);
  await playground.stop();
  if (failure !== undefined) throw new Stopped(`the installation cannot be moved: ${messageOf(failure.error)}`);
  return 0;
}

type Shown = ReturnType<typeof shownBy>;

/** The interfaces of an installation. */
function shownBy(clock: Playground, host: string) {
  const { world } = clock;
  const page = { title: 'Playground', clock };
  const handler = createHttpHandler(world.engine, { access: 'open', hosts: [host], page });
  const upgrades = upgradeListener(handler);
  const release = (): void => {
    world.engine.parked.release();
    upgrades.closeAll();
  };
  return { world, listener: nodeListener(handler), upgrades, release };
}

function optionsFrom(given: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { listen: text, nodes: text, 'batch-seconds': text } as const;
  try {
    const { values, positionals } = parseArgs({ args: doubleDashed(given), options, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === '' || more.length > 0) throw new Error('expected one FILE, or none');
    const address = listenParts(values.listen ?? '127.0.0.1:4747');
    if (address === undefined) throw new Error('--listen takes HOST:PORT, such as 127.0.0.1:4747');
    const nodes = numberOption('--nodes', values.nodes) ?? (file === undefined ? 3 : 0);
    if (nodes > 100) throw new Error('--nodes takes a number from 0 to 100');
    return { file, ...address, nodes, batchSeconds: numberOption('--batch-seconds', values['batch-seconds']) ?? 60 };
  } catch (error) {
    throw new Stopped(`${messageOf(error)}\n\n${playUsage}`, 2);
  }
}
