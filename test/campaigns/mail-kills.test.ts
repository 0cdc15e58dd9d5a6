import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { ResultAsync } from 'neverthrow';
import { SMTPServer } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { endAll } from '../adapters/cli/cli-process.js';
import { eventually, type Installation, installation, pause, type Served } from '../support/installation.js';
import { patience } from '../support/patience.js';

/*
 * Two servers on one store deliver to a webhook and, by mail, to three people, of whom one is put off now and then and one is always
 * refused. They are killed and stopped in turn while events of a few runs are published. Nothing may wait for ever: every mail that may
 * arrive arrives, the hook hears of each run in order, and the log says so. `SIGNALBOX_MAIL_KILLS=100` for a longer run.
 */
const asked = process.env['SIGNALBOX_MAIL_KILLS'];
const kills = Number(asked ?? 6);
const runs = 20;

let installed: Installation | undefined;
let mailbox: Mailbox | undefined;
afterEach(async () => {
  endAll();
  mailbox?.server.close();
  await installed?.remove();
});

test(`${kills} ends of servers leave no notification behind`, { timeout: 120_000 + kills * 10_000 }, async () => {
  installed = await installation();
  mailbox = await startMailbox();
  const start = starting(installed, mailbox);
  const servers = [await start(), await start()];
  const configurations = await configure(servers[0] as Served, installed.receiver.url);
  const checks = installed.receiver.requests.length;
  let isOver = false;
  const ending = endInTurn(servers, start).finally(() => {
    isOver = true;
  });
  const published = await publish(servers, () => isOver);
  await ending;
  const [server] = servers as [Served];
  const pending = async (): Promise<number[]> => Promise.all(configurations.map((each) => waiting(server, each)));
  await eventually(patience, async () => (await pending()).every((number) => number === 0));
  expect(await pending()).toEqual([0, 0]);
  const heard = installed.receiver.requests.slice(checks).map(({ body }) => JSON.parse(body) as Heard);
  expect(faultsOfOrder(heard)).toEqual([]);
  expect(new Set(heard.map(({ run_message }) => run_message)).size).toBe(published);
  const mails = [...mailbox.received].map(([address, messages]) => [address, messages.size]);
  expect(Object.fromEntries(mails)).toEqual({ 'u1@example.org': published, 'u2@example.org': published });
  if (asked !== undefined) console.info({ kills, published, requests: heard.length });
});

type Starting = () => Promise<Served>;

function starting(place: Installation, { port }: Mailbox): Starting {
  // One mail may be put off several times in a row, because the others count as well: with 16 attempts it is never given up by chance
  // (250 mails × 3⁻¹⁶ = 6 × 10⁻⁶; with 8 attempts one run in 26 did so).
  const waits = ['300ms', '300ms', '500ms', '500ms', ...Array.from({ length: 11 }, () => '1s')];
  const settings = [
    'notifications.delivery.lease=1s',
    `notifications.delivery.retry.email=${waits.join(',')}`,
    // Refusals are what is sent here: none of them may hold up the others.
    'notifications.delivery.breaker.failures=1000000',
  ];
  const options = ['--no-runner', ...settings.flatMap((setting) => ['--set', setting])];
  const environment = { SIGNALBOX_SMTP_URL: `smtp://127.0.0.1:${port}`, SIGNALBOX_MAIL_FROM: 'from@example.net' };
  return () => place.serve(options, environment);
}

/** Of the two servers the older one ends, by SIGKILL and SIGTERM in turn, and another one begins. */
async function endInTurn(servers: Served[], start: Starting): Promise<void> {
  for (let at = 0; at < kills; at += 1) {
    await pause(100 + Math.random() * 500);
    const [older] = servers.splice(0, 1) as [Served];
    older.child.process.kill(at % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    await older.child.ended;
    servers.push(await start());
  }
}

/** Publishes until it is over, each event until it is acknowledged. Gives how many. */
async function publish(servers: readonly Served[], isOver: () => boolean): Promise<number> {
  let number = 0;
  for (; !isOver(); number += 1) {
    const event = {
      trigger: 'run:errored',
      run_id: `run-${number % runs}`,
      run_status: 'errored',
      run_message: String(number),
      idempotency_key: `key-${number}`,
    } as const;
    await eventually(patience, () =>
      isAcknowledged(() => (servers[0] as Served).box.notifications.send('ws-1', event)),
    );
    await pause(10);
  }
  return number;
}

async function isAcknowledged(ask: () => ResultAsync<unknown, unknown>): Promise<boolean> {
  try {
    return (await ask()).isOk();
  } catch {
    return false;
  }
}

async function configure({ box }: Served, url: string): Promise<readonly string[]> {
  const users = ['u1', 'u2', 'u3'];
  for (const id of users) {
    const user = { username: id, email: `${id}@example.org`, organization: 'org' };
    (await box.users.put(id, user))._unsafeUnwrap();
  }
  const common = { enabled: true, triggers: ['run:errored'] } as const;
  const hook = { ...common, destinationType: 'generic', name: 'hook', url } as const;
  const mail = { ...common, destinationType: 'email', name: 'mail', users } as const;
  const created = [await box.notifications.create('ws-1', hook), await box.notifications.create('ws-1', mail)];
  return created.map((each) => each._unsafeUnwrap().id);
}

async function waiting({ box }: Served, configuration: string): Promise<number> {
  return (await box.deliveries.list(configuration, { outcome: 'pending' }))._unsafeUnwrap().items.length;
}

interface Heard {
  readonly run_id: string;
  readonly run_message: string;
}

/** Messages of a run that came for the first time after a later one. */
function faultsOfOrder(heard: readonly Heard[]): readonly string[] {
  const known = new Set<string>();
  const newest = new Map<string, number>();
  return heard.flatMap(({ run_id: run, run_message: message }) => {
    const number = Number(message);
    const isLate = !known.has(message) && number < (newest.get(run) ?? -1);
    known.add(message);
    newest.set(run, Math.max(number, newest.get(run) ?? -1));
    return isLate ? [`${run}: ${message}`] : [];
  });
}

interface Mailbox {
  readonly server: SMTPServer;
  readonly port: number;
  /** The IDs of the messages for each address. */
  readonly received: ReadonlyMap<string, ReadonlySet<string>>;
}

/** `u2` is put off at every third attempt, `u3` is always refused. */
async function startMailbox(): Promise<Mailbox> {
  const received = new Map<string, Set<string>>();
  let attempts = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onRcptTo({ address }, _session, answer) {
      if (address.startsWith('u3')) return answer(refusal(550));
      if (address.startsWith('u2') && attempts++ % 3 === 0) return answer(refusal(451));
      answer();
    },
    onData(stream, session, answer) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const id = /^message-id:\s*(\S+)/im.exec(Buffer.concat(chunks).toString())?.[1] ?? '';
        for (const { address } of session.envelope.rcptTo) {
          received.set(address, (received.get(address) ?? new Set()).add(id));
        }
        setTimeout(answer, 30);
      });
    },
  });
  // A client that was killed resets its connection.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return { server, port: (server.server.address() as AddressInfo).port, received };
}

function refusal(responseCode: number): Error {
  return Object.assign(new Error('refused'), { responseCode });
}
