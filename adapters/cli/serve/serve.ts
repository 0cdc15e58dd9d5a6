import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { relative } from 'node:path';
import {
  createEngine,
  type Engine,
  type EnginePorts,
  hostPrincipal,
  type PolicyRule,
  type QuotaRule,
  type RunNotificationRule,
  type SettingsOverrides,
} from '../../../src/index.js';
import type { Cipher, Logger, Mailer, Storage } from '../../../src/ports/index.js';
import { messageOf, stated } from '../../../src/shared/values.js';
import {
  createHttpHandler,
  limitConnections,
  nodeListener,
  type UpgradeListener,
  upgradeListener,
} from '../../compat/index.js';
import { randomIds, systemClock } from '../../node/index.js';
import { prometheusObserver } from '../../prometheus/index.js';
import { smtpMailer } from '../../smtp/index.js';
import { listening } from '../addresses.js';
import { outboundFrom } from '../outbound.js';
import { applySeed } from '../seed/apply-seed.js';
import { parseSeedFile } from '../seed/seed-file.js';
import type { SeedFile } from '../seed/seed-file-schema.js';
import { orStop } from '../settings/config-command.js';
import { readFlags } from '../settings/read-flags.js';
import { misspelledVariables } from '../settings/resolve-settings.js';
import { readSettingsFile } from '../settings/settings-file.js';
import { Stopped } from '../stopped.js';
import { stderrLogger, type Terminal } from '../terminal.js';
import { drainServer } from './drain-server.js';
import { cipherFromFile, keysOfFile, passingCipher } from './encryption-keys.js';
import { exampleRequests } from './example-requests.js';
import { type HostRunner, startHostRunner } from './host-runner.js';
import { openStore } from './open-store.js';
import { connectionLimitsFrom, parseServeOptions, type ServeOptions } from './serve-options.js';

/**
 * Milliseconds that pending requests and notifications may take after a signal. Anything unfinished by then was
 * not acknowledged, or is taken up again at the next start.
 */
const stopGrace = 800;
/** Milliseconds that tasks may take to end if they end with the server. */
const runnerGrace = 10_000;

const keepsNothing =
  'The store is in memory: jobs, their history and notifications are lost when the server ends. ' +
  'Start with --store sqlite:PATH or postgres://USER@HOST/DATABASE to keep them';

/** Headers and bodies must arrive within a minute, so that slow senders cannot occupy the buffers for bodies. */
const serverOptions = { maxHeaderSize: 32 * 1024, keepAliveTimeout: 65_000, requestTimeout: 60_000 };

export interface RunningServer {
  readonly origin: string;
  /** Refuses new requests, finishes pending ones and closes the store. */
  stop(): Promise<void>;
}

/**
 * `signalbox serve`: one process with the engine, both HTTP interfaces and a runner for this host. Prints
 * `listening on http://HOST:PORT` as its first line when it is ready. Rejects with `Stopped` when it cannot start.
 */
export async function serve(args: readonly string[], terminal: Terminal): Promise<RunningServer> {
  const options = await optionsOf(args, terminal);
  const limits = connectionLimitsFrom(options);
  const seed = options.seedFile === null ? null : await readSeed(options.seedFile);
  const logger = stderrLogger(terminal);
  const warn = (message: string): void => logger.warn({}, message);
  const cipher = await cipherOf(options, warn);
  const { delivery, download } = await outboundFrom(
    options.outbound,
    'start the server with its range in --allow-outbound to allow it',
  );
  const storage = await storeFrom(options, logger);
  const server = createServer(serverOptions, (_request, response) => {
    const headers = { 'Retry-After': '1', 'X-Content-Type-Options': 'nosniff' };
    response.writeHead(503, headers).end('the server is starting\n');
  });
  let made: Engine | undefined;
  try {
    const origin = await listening(server, options);
    const secrets = await secretsOf(options, terminal);
    const engine = engineFrom({ options, origin, seed, terminal }, { storage, delivery, cipher, secrets });
    made = engine;
    await preparedSecrets(engine);
    await tellOfEventTypes(engine);
    if (seed !== null) await applySeed(engine, seed);
    const secret = options.access === 'token' ? await firstToken(engine) : undefined;
    const upgrades = mount(server, engine, options);
    limitConnections(server, limits);
    engine.start();
    const runner: HostRunner | undefined = options.runner
      ? await startHostRunner(engine, options, { ...options.node, download })
      : undefined;
    if (options.store.place.type === 'memory') warn(keepsNothing);
    terminal.out(`listening on ${origin}\n${options.page !== false ? `web page: ${origin}/ui/\n` : ''}`);
    if (options.examples) terminal.out(examplesFor({ options, origin, seed, terminal }, secret));
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
        // An unresponsive receiver keeps its connection open; the process ends without waiting for it.
        void delivery.close();
        await storage.close();
      },
    };
  } catch (error) {
    await closeServer(server);
    await made?.stop({ deadline: 0 });
    await delivery.close();
    await storage.close();
    throw error;
  }
}

/** Replaces the "server is starting" answer by the engine's handler. */
function mount(server: Server, engine: Engine, options: ServeOptions): UpgradeListener {
  const { access, compat, host, allowHosts, maximumWaitingReads, page, stallTimeout } = options;
  server.removeAllListeners('request');
  // The first token exists by now; a bootstrap request gets Nomad's refusal.
  const bootstrap = access === 'token';
  const handler = createHttpHandler(engine, {
    ...{ access, bootstrap, compat, maximumWaitingReads, page },
    hosts: [host, ...allowHosts],
  });
  const upgrades = upgradeListener(handler, { stallTimeout });
  server.on('request', nodeListener(handler, { stallTimeout })).on('upgrade', upgrades);
  return upgrades;
}

function examplesFor({ options, origin, seed }: Start, secret: string | undefined): string {
  return exampleRequests(origin, {
    program: thisProgram(),
    workspace: seed?.workspaces[0]?.id,
    base: options.notificationsBase,
    // The secret of the first token is shown once; later starts print a placeholder.
    token: options.access === 'token' ? (secret ?? 'YOUR-TOKEN') : undefined,
  });
}

/** The command that started this program, as typed in the working folder. */
function thisProgram(): string {
  const [, script = ''] = process.argv;
  const path = relative(process.cwd(), script);
  return script.includes('/node_modules/') || path === '' ? 'npx signalbox' : `node ${path}`;
}

async function optionsOf(args: readonly string[], terminal: Terminal): Promise<ServeOptions> {
  const { environment } = terminal;
  const { config } = orStop(readFlags(args));
  const file = await readSettingsFile(config, environment);
  for (const message of misspelledVariables(environment)) stderrLogger(terminal).warn({}, message);
  return orStop(parseServeOptions(args, { environment, file }));
}

/**
 * A server that cannot decrypt its destinations would accept events and deliver none, so it does not start. Records that are not
 * encrypted with the first key are encrypted again with it, so that other keys can be removed; this is logged once the files no longer
 * contain the replaced forms.
 */
async function preparedSecrets(engine: Engine): Promise<void> {
  const checked = await engine.host.checkSecrets();
  if (checked.isErr()) throw new Stopped(`the store cannot be read: ${checked.error.message}`);
  const { unreadable, example, outdated } = checked.value;
  if (unreadable > 0) {
    throw new Stopped(
      `${unreadable} notification configurations or variables (such as ${example}) are encrypted with an unknown key: ` +
        'start with --encryption-key-file and a file that contains it',
    );
  }
  if (outdated === 0) return;
  const resealed = await engine.host.resealSecrets();
  if (resealed.isErr()) throw new Stopped(`the store cannot be written: ${resealed.error.message}`);
  engine.logger.info({ records: resealed.value }, 'Secrets in the store were encrypted with the first key');
}

/** The schema of an event type stored by an earlier release may be partly invalid now: events are checked against its valid part. */
async function tellOfEventTypes(engine: Engine): Promise<void> {
  const types = await engine.as(hostPrincipal).eventTypes.list();
  if (types.isErr()) throw new Stopped(`the store cannot be read: ${types.error.type}`);
  for (const { name, problems } of types.value) {
    if (problems.length === 0) continue;
    const messages = problems.map(({ message }) => message);
    engine.logger.warn(
      { eventType: name, problems: messages },
      'The schema of a stored event type is partly invalid: its events are checked against the valid part only',
    );
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

/** A store in memory needs no persistent key. A store that is kept works without a key, with a warning to the operator. */
async function cipherOf(options: ServeOptions, warn: (message: string) => void): Promise<Cipher | null> {
  if (options.encryptionKeyFile !== null) return cipherFromFile(options.encryptionKeyFile, warn);
  if (options.store.place.type === 'memory') return passingCipher();
  warn(
    'Secrets are stored unencrypted: tokens and URLs of destinations, and items of variables. ' +
      'Start with --encryption-key-file to encrypt them; signalbox new-key FILE creates the file',
  );
  return null;
}

/** What alerts must not quote: the keys of the key file, and the passwords of the mail server, the proxy and the database. */
async function secretsOf(
  { encryptionKeyFile, mail, outbound, store }: ServeOptions,
  { environment }: Terminal,
): Promise<readonly string[]> {
  const keys = encryptionKeyFile === null ? [] : await keysOfFile(encryptionKeyFile);
  const others = [mail?.url, outbound.proxy?.url, store.listenUrl, environment['PGPASSWORD']];
  if (store.place.type === 'postgres') others.push(store.place.url);
  return [...keys, ...others.flatMap((secret) => secret || [])];
}

async function storeFrom({ store }: ServeOptions, logger: Logger): Promise<Storage> {
  const opened = await openStore(store, logger);
  return opened.match(
    (storage) => storage,
    (error) => {
      throw new Stopped(`the store cannot be opened: ${error.message}`);
    },
  );
}

/** The options of a server and the address where it listens. */
interface Start {
  readonly options: ServeOptions;
  readonly origin: string;
  readonly seed: SeedFile | null;
  readonly terminal: Terminal;
}

function engineFrom(
  { options, origin, seed, terminal }: Start,
  { cipher, ...given }: Pick<EnginePorts, 'storage' | 'delivery' | 'secrets'> & { readonly cipher: Cipher | null },
): Engine {
  const settings: SettingsOverrides = {
    ...options.engine,
    jobs: {
      ...options.engine.jobs,
      policies: (seed?.job_policies ?? []).map(policyRule),
      quotas: (seed?.quotas ?? []).map(quotaRule),
    },
    runNotifications: (seed?.run_notifications ?? []).map(runRule),
    notifications: {
      names: options.names,
      basePath: options.notificationsBase,
      publicOrigin: options.publicOrigin ?? origin,
      hints: { mailer: 'this server has no mail server; start it with SIGNALBOX_SMTP_URL and SIGNALBOX_MAIL_FROM set' },
      ...options.engine.notifications,
    },
  };
  const logger = stderrLogger(terminal);
  const mailer = mailerFrom(options);
  const ports = {
    ...given,
    clock: systemClock(),
    ids: randomIds(),
    observer: prometheusObserver(),
    logger,
    ...(cipher === null ? {} : { cipher }),
  };
  return createEngine(mailer === undefined ? ports : { ...ports, mailer }, settings);
}

function mailerFrom({ mail }: ServeOptions): Mailer | undefined {
  if (mail === null) return undefined;
  try {
    return smtpMailer(mail);
  } catch (error) {
    throw new Stopped(`mailFrom (SIGNALBOX_MAIL_FROM): ${messageOf(error)}`);
  }
}

function runRule({ workspace, namespace, job, meta }: SeedFile['run_notifications'][number]): RunNotificationRule {
  return { workspace, ...stated({ namespace, job, meta }) };
}

function policyRule({ name, level, refuse, message }: SeedFile['job_policies'][number]): PolicyRule {
  return { name, level, refuse, ...stated({ message }) };
}

function quotaRule({ namespace, jobs, cpu, cores, ...rest }: SeedFile['quotas'][number]): QuotaRule {
  const { memory_mb: memoryMB, dispatches_per_minute: dispatchesPerMinute } = rest;
  return { namespace, ...stated({ jobs, cpu, cores, memoryMB, dispatchesPerMinute }) };
}

async function firstToken(engine: Engine): Promise<string | undefined> {
  const issued = await engine.host.bootstrapToken();
  if (issued.isErr()) throw new Stopped(`the management token cannot be stored: ${issued.error.message}`);
  return issued.value?.secret;
}

/** For a failed start: does not wait for pending requests. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
