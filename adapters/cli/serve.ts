import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  bootstrapManagementToken,
  type Cipher,
  createEngine,
  type Engine,
  type HttpDelivery,
  type Mailer,
  type RunNotificationRule,
  type SettingsOverrides,
  type Storage,
} from '../../src/index.js';
import { createHttpHandler, nodeListener, upgradeListener } from '../http-server/index.js';
import { randomIds, systemClock } from '../node/index.js';
import { smtpMailer } from '../smtp/index.js';
import { undiciDelivery } from '../undici/index.js';
import { applySeed } from './apply-seed.js';
import { drainServer } from './drain-server.js';
import { cipherFromFile } from './encryption-keys.js';
import { exampleRequests } from './example-requests.js';
import { type HostRunner, startHostRunner } from './host-runner.js';
import { openStore } from './open-store.js';
import { parseSeedFile } from './seed-file.js';
import type { SeedFile } from './seed-file-schema.js';
import { parseServeOptions, type ServeOptions, serveUsage } from './serve-options.js';
import { stderrLogger } from './stderr-logger.js';
import { Stopped } from './stopped.js';
import type { Terminal } from './terminal.js';

/**
 * Milliseconds that requests and notifications under way may take to end after a signal. What has not ended by then was
 * not acknowledged, or is taken up again at the next start.
 */
const stopGrace = 800;
/** Milliseconds that the processes of a runner that takes them along may take to end. */
const runnerGrace = 10_000;

/** Headers and bodies must come within a minute, so that slow senders cannot keep what the server holds for bodies. */
const serverOptions = { maxHeaderSize: 32 * 1024, keepAliveTimeout: 65_000, requestTimeout: 60_000 };

export interface RunningServer {
  readonly origin: string;
  /** Refuses new requests, ends what is under way, closes the store. */
  stop(): Promise<void>;
}

/**
 * `signalbox serve`: one process with the engine, both HTTP interfaces and a runner for this host. Prints
 * `listening on http://HOST:PORT` as its first line when it is ready. Rejects with `Stopped` when it cannot start.
 */
export async function serve(args: readonly string[], terminal: Terminal): Promise<RunningServer> {
  const options = parseServeOptions(args).match(
    (parsed) => parsed,
    (message) => {
      throw new Stopped(`${message}\n\n${serveUsage}`, 2);
    },
  );
  const seed = options.seedFile === null ? null : await readSeed(options.seedFile);
  const warn = (message: string): void => stderrLogger(terminal).warn({}, message);
  const cipher = options.encryptionKeyFile === null ? null : await cipherFromFile(options.encryptionKeyFile, warn);
  const delivery = deliveryFrom(options);
  const storage = await storeFrom(options);
  const server = createServer(serverOptions, (_request, response) => {
    const headers = { 'Retry-After': '1', 'X-Content-Type-Options': 'nosniff' };
    response.writeHead(503, headers).end('the server is starting\n');
  });
  const closePorts = async (): Promise<void> => {
    await delivery.close();
    await storage.close();
  };
  try {
    const origin = await listen(server, options);
    const engine = engineFrom(options, origin, { storage, delivery, cipher }, terminal, seed);
    if (seed !== null) await applySeed(engine, seed);
    const secret = options.access === 'token' ? await firstToken(engine) : undefined;
    server.removeAllListeners('request');
    const hosts = [options.host, ...options.allowHosts];
    const handler = createHttpHandler(engine, { access: options.access, hosts });
    const upgrades = upgradeListener(handler);
    server.on('request', nodeListener(handler)).on('upgrade', upgrades);
    engine.start();
    const runner: HostRunner | undefined = options.runner
      ? await startHostRunner(engine, options.storePath)
      : undefined;
    terminal.out(`listening on ${origin}\n`);
    if (options.examples) terminal.out(exampleRequests(origin));
    if (secret !== undefined) terminal.out(`management token, shown this once: ${secret}\n`);
    return {
      origin,
      stop: async () => {
        const release = (): void => {
          engine.parked.release();
          upgrades.closeAll();
        };
        const drained = drainServer(server, release, stopGrace);
        await engine.stop({ deadline: stopGrace });
        await drained;
        await runner?.stop(runnerGrace);
        // A receiver that does not answer holds its connection; the process ends without it.
        void delivery.close();
        await storage.close();
      },
    };
  } catch (error) {
    await closeServer(server);
    await closePorts();
    throw error;
  }
}

async function readSeed(path: string): Promise<SeedFile> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Stopped(`the seed file cannot be read: ${messageOf(error)}`);
  });
  const seed = await parseSeedFile(text, path);
  if (seed.isErr()) throw new Stopped(seed.error.message);
  return seed.value;
}

function deliveryFrom(options: ServeOptions): HttpDelivery {
  try {
    return undiciDelivery({ allow: { cidrs: options.allowOutbound } });
  } catch (error) {
    throw new Stopped(`--allow-outbound: ${messageOf(error)}`, 2);
  }
}

async function storeFrom(options: ServeOptions): Promise<Storage> {
  const opened = await openStore(options.storePath);
  return opened.match(
    (storage) => storage,
    (error) => {
      throw new Stopped(`the store cannot be opened: ${error.message}`);
    },
  );
}

function engineFrom(
  options: ServeOptions,
  origin: string,
  { cipher, ...given }: { storage: Storage; delivery: HttpDelivery; cipher: Cipher | null },
  terminal: Terminal,
  seed: SeedFile | null,
): Engine {
  const settings: SettingsOverrides = {
    runNotifications: (seed?.run_notifications ?? []).map(runRule),
    notifications: {
      names: options.names,
      basePath: options.notificationsBase,
      publicOrigin: options.publicOrigin ?? origin,
      ...(options.names === 'upstream' ? { signature: { headers: ['x-tfe-notification-signature'] } } : {}),
    },
  };
  const logger = stderrLogger(terminal);
  const mailer = mailerFrom(terminal.environment);
  const ports = { ...given, clock: systemClock(), ids: randomIds(), logger, ...(cipher === null ? {} : { cipher }) };
  return createEngine(mailer === undefined ? ports : { ...ports, mailer }, settings);
}

/** Mail needs a server, which may have a password: that stays out of the command line. */
function mailerFrom(environment: Terminal['environment']): Mailer | undefined {
  const url = environment['SIGNALBOX_SMTP_URL'];
  if (url === undefined || url === '') return undefined;
  try {
    return smtpMailer({ url, from: environment['SIGNALBOX_MAIL_FROM'] ?? '' });
  } catch (error) {
    throw new Stopped(`SIGNALBOX_MAIL_FROM: ${messageOf(error)}`);
  }
}

function runRule({ workspace, namespace, job, meta }: SeedFile['run_notifications'][number]): RunNotificationRule {
  return {
    workspace,
    ...(namespace === undefined ? {} : { namespace }),
    ...(job === undefined ? {} : { job }),
    ...(meta === undefined ? {} : { meta }),
  };
}

async function firstToken(engine: Engine): Promise<string | undefined> {
  const issued = await bootstrapManagementToken(engine);
  if (issued.isErr()) throw new Stopped(`the management token cannot be stored: ${issued.error.message}`);
  return issued.value?.secret;
}

function listen(server: Server, options: ServeOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Stopped(`cannot listen: ${error.message}`)));
    server.listen(options.port, options.host, () => {
      const { port } = server.address() as AddressInfo;
      resolve(`http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`);
    });
  });
}

/** No new connections from now on; resolves when the last request has been answered. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
