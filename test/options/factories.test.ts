import { describe, expect, it } from 'vitest';
import { createHttpHandler, fetchHandler, nodeListener, upgradeListener } from '../../adapters/compat/index.js';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../adapters/memory/index.js';
import { aesCipher, randomIds, systemClock } from '../../adapters/node/index.js';
import { openTelemetryObserver, openTelemetryTracer } from '../../adapters/opentelemetry/index.js';
import { createRunner, functionDriver, httpAgentLink, rawExecDriver } from '../../adapters/runner/index.js';
import { smtpMailer } from '../../adapters/smtp/index.js';
import { sqliteStorage } from '../../adapters/sqlite/index.js';
import { testEngine } from '../../adapters/testing/index.js';
import { undiciDelivery, undiciDownload } from '../../adapters/undici/index.js';
import { connect } from '../../src/client/index.js';
import { agentPorts, createEngine, hostPrincipal, settingsFrom } from '../../src/index.js';

const ports = () => ({
  storage: memoryStorage(),
  clock: systemClock(),
  ids: randomIds(),
  delivery: recordingDelivery(),
});
const engine = createEngine({ ...ports(), clock: manualClock(), ids: sequentialIds() });

/** Calls as a caller without types makes them. */
type Loose = (...args: unknown[]) => unknown;
const loosely = (factory: unknown, ...args: unknown[]): unknown => (factory as Loose)(...args);
const withPort = (more: object) => loosely(createEngine, { ...ports(), ...more });
const withSettings = (settings: unknown) => loosely(createEngine, ports(), settings);
const withAccess = (more: object) => loosely(createHttpHandler, engine, { access: 'open', ...more });
const runner = (options: unknown) => loosely(createRunner, agentPorts(engine), options);

const mistakes: readonly (readonly [message: string, mistake: () => unknown])[] = [
  ['createEngine: expected an object with options, got nothing', () => loosely(createEngine)],
  ['createEngine: storage is missing: it takes a storage, such as memoryStorage()', () => loosely(createEngine, {})],
  [
    'createEngine: storage takes a storage, such as memoryStorage(), got a promise: await it',
    () => withPort({ storage: sqliteStorage(':memory:') }),
  ],
  [
    'createEngine: clock takes a clock, such as systemClock(), got a function (systemClock): was it to be called?',
    () => withPort({ clock: systemClock }),
  ],
  ['createEngine: there is no option mailr; did you mean mailer?', () => withPort({ mailr: {} })],
  ['createEngine: there is no option settings', () => withPort({ settings: {} })],
  [
    'createEngine: logger takes a logger with the methods debug, info, warn and error, got an object of another kind',
    () => withPort({ logger: { info: () => undefined } }),
  ],
  [
    'createEngine: policies[0].level is missing',
    () => withPort({ policies: [{ name: 'a', refuse: () => undefined }] }),
  ],
  ['settings: expected an object with options, got null', () => withSettings(null)],
  ['settings: there is no option notification; did you mean notifications?', () => withSettings({ notification: {} })],
  [
    'settings: there is no option notifications.delivery.rety; did you mean notifications.delivery.retry?',
    () => withSettings({ notifications: { delivery: { rety: {} } } }),
  ],
  [
    'settings: notifications.delivery.totalTimeout takes a non-negative number, got a string',
    () => withSettings({ notifications: { delivery: { totalTimeout: '15s' } } }),
  ],
  [
    'settings: notifications.delivery.retry.generic[1] takes a number of milliseconds, got a string',
    () => withSettings({ notifications: { delivery: { retry: { generic: [5, '1m'] } } } }),
  ],
  [
    'settings: scheduling.heartbeatTtl takes a non-negative number, got NaN',
    () => loosely(settingsFrom, { scheduling: { heartbeatTtl: Number.NaN } }),
  ],
  ...(
    [
      [{ delivery: { concurrency: 0 } }, 'delivery.concurrency takes a number from 1'],
      [{ delivery: { window: 0 } }, 'delivery.window takes a number from 1'],
      [{ defaultPageSize: 0 }, 'defaultPageSize takes a number from 1'],
      [{ maximumPageSize: 0.5 }, 'maximumPageSize takes a number from 1'],
      [{ delivery: { jitter: 5 } }, 'delivery.jitter takes a number from 0 to 1'],
      [{ delivery: { lease: 0 } }, 'delivery.lease takes a finite number of milliseconds from 1'],
      [
        { delivery: { lease: Number.POSITIVE_INFINITY } },
        'delivery.lease takes a finite number of milliseconds from 1',
      ],
      [
        { delivery: { recordWithin: Number.POSITIVE_INFINITY } },
        'delivery.recordWithin takes a finite number of milliseconds',
      ],
      [{ signature: { headers: ['x-a', 'x b'] } }, 'signature.headers[1] takes the name of a header'],
      [{ signature: { idHeader: '' } }, 'signature.idHeader takes the name of a header'],
      [{ signature: { timestampHeader: 'a\nb' } }, 'signature.timestampHeader takes the name of a header'],
    ] as const
  ).map(
    ([notifications, message]) =>
      [`settings: notifications.${message}, got`, () => withSettings({ notifications })] as const,
  ),
  [
    "settings: notifications.names takes 'neutral' or 'upstream', got a string",
    () => withSettings({ notifications: { names: 'x' } }),
  ],
  [
    "settings: notifications.publicOrigin takes an origin such as 'https://jobs.example.net', got a string",
    () => withSettings({ notifications: { publicOrigin: 'jobs.example.net' } }),
  ],
  [
    'settings: runNotifications takes a list, got an object',
    () => withSettings({ runNotifications: { workspace: 'a' } }),
  ],
  [
    'settings: there is no option runNotifications[0].jobs; did you mean runNotifications[0].job?',
    () => withSettings({ runNotifications: [{ workspace: 'a', jobs: '*' }] }),
  ],
  ['createHttpHandler: engine is missing: it takes an engine', () => loosely(createHttpHandler)],
  ['createHttpHandler: expected an object with options, got nothing', () => loosely(createHttpHandler, engine)],
  ['createHttpHandler: there is no option basepath; did you mean basePath?', () => withAccess({ basepath: '/x' })],
  [
    "createHttpHandler: basePath takes '' or a path that begins with a slash, got a string",
    () => withAccess({ basePath: 'x' }),
  ],
  ['createHttpHandler: hosts takes a list, got a string', () => withAccess({ hosts: 'jobs.example.net' })],
  [
    'createHttpHandler: maximumBodyBytes takes a non-negative number, got a string',
    () => withAccess({ maximumBodyBytes: '4mb' }),
  ],
  ['createHttpHandler requires you to choose who may call it', () => withAccess({ authenticate: () => undefined })],
  [
    'createHttpHandler requires you to choose who may call it',
    () => loosely(createHttpHandler, engine, { authenticate: 'x' }),
  ],
  [
    'nodeListener: handler takes a handler, made by createHttpHandler, got an object',
    () => loosely(nodeListener, engine),
  ],
  ['fetchHandler: handler is missing', () => loosely(fetchHandler)],
  ['upgradeListener: handler takes a handler', () => loosely(upgradeListener, engine)],
  [
    'createRunner: link is missing: it takes a link to a server: use the ports of agentPorts(engine)',
    () => loosely(createRunner, engine, { drivers: [] }),
  ],
  ['createRunner: expected an object with options, got nothing', () => runner(undefined)],
  ['createRunner: drivers is missing: it takes a list', () => runner({})],
  ['createRunner: drivers takes a list, got an object', () => runner({ drivers: functionDriver({}) })],
  [
    'createRunner: drivers[0] takes a driver, such as functionDriver(…), got a function (functionDriver): was it to be called?',
    () => runner({ drivers: [functionDriver] }),
  ],
  ['createRunner: there is no option directoy; did you mean directory?', () => runner({ drivers: [], directoy: '/x' })],
  ['createRunner: nodeId takes a UUID', () => runner({ drivers: [], nodeId: 'x' })],
  ["createRunner: onStop takes 'leave' or 'kill', got a string", () => runner({ drivers: [], onStop: 'x' })],
  ['functionDriver: functions is missing: it takes an object', () => loosely(functionDriver)],
  ['functionDriver: functions.a takes a function, got 1', () => loosely(functionDriver, { a: 1 })],
  [
    'rawExecDriver: there is no option inherits; did you mean inherit?',
    () => loosely(rawExecDriver, { inherits: 'all' }),
  ],
  ['httpAgentLink: url takes a URL', () => loosely(httpAgentLink, { url: 'jobs.example.net', clock: systemClock() })],
  ['sqliteStorage: pathOrHandle is missing: it takes a string or an open connection', () => loosely(sqliteStorage)],
  [
    'sqliteStorage: pathOrHandle takes a string or an open connection',
    () => loosely(sqliteStorage, new URL('file:///x')),
  ],
  ["sqliteStorage: driver takes 'node:sqlite' or 'better-sqlite3'", () => loosely(sqliteStorage, 'x', { driver: 'x' })],
  ['undiciDelivery: there is no option alow; did you mean allow?', () => loosely(undiciDelivery, { alow: {} })],
  ['undiciDelivery: allow takes an object with options, got a list', () => loosely(undiciDelivery, { allow: [] })],
  ['undiciDownload: allow.cidrs takes a list', () => loosely(undiciDownload, { allow: { cidrs: '10.0.0.0/8' } })],
  ['smtpMailer: expected an object with options, got nothing', () => loosely(smtpMailer)],
  ['smtpMailer: from is missing: it takes a string', () => loosely(smtpMailer, {})],
  ['smtpMailer: give either url or transport', () => loosely(smtpMailer, { from: 'a@example.net' })],
  ['smtpMailer: url takes a URL', () => loosely(smtpMailer, { from: 'a@example.net', url: 'mail.example.net' })],
  ['aesCipher: keys takes a list, got a string', () => loosely(aesCipher, { keys: 'secret', current: 'a' })],
  ['openTelemetryObserver: meter is missing', () => loosely(openTelemetryObserver, {})],
  ['openTelemetryTracer: api is missing', () => loosely(openTelemetryTracer, {})],
  ['recordingDelivery: there is no option clok; did you mean clock?', () => loosely(recordingDelivery, { clok: 1 })],
  [
    'manualClock: start takes a number of milliseconds since 1970, got a string',
    () => loosely(manualClock, '2026-01-01'),
  ],
  ['connect: expected an object with options, got a string', () => loosely(connect, 'http://127.0.0.1')],
  ['connect: url takes a URL such as https://jobs.example.org', () => loosely(connect, { url: 'localhost:4646' })],
  ['connect: there is no option tokn; did you mean token?', () => loosely(connect, { url: 'http://a', tokn: 'x' })],
];

describe('what a factory is given', () => {
  it.each(mistakes)('%s', (message, mistake) => {
    expect(mistake).toThrow(TypeError);
    expect(mistake).toThrow(message);
  });

  it('is never repeated where it may be a secret', () => {
    expect(() => loosely(aesCipher, { keys: 'hunter2', current: 'a' })).not.toThrow(/hunter2/);
    expect(() => loosely(connect, { url: 'user:hunter2@example.net' })).not.toThrow(/hunter2/);
  });

  it('rejects the promise of a test engine', async () => {
    await expect(loosely(testEngine, { function: {} })).rejects.toThrow(
      'testEngine: there is no option function; did you mean functions?',
    );
  });

  it('may have members that are undefined', () => {
    expect(() => withPort({ mailer: undefined, mailr: undefined })).not.toThrow();
  });

  it('may be a logger that is a function or an object of a class', () => {
    class Logger {
      debug(): void {}
      info(): void {}
      warn(): void {}
      error(): void {}
    }
    const ofPackage = Object.assign(() => undefined, new Logger(), {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => undefined,
    });
    expect(() => withPort({ logger: new Logger() })).not.toThrow();
    expect(() => withPort({ logger: ofPackage })).not.toThrow();
  });
});

describe('a caller', () => {
  it.each([undefined, null, 'ada', [], {}])('is not %j', (caller) => {
    expect(() => engine.as(caller as never)).toThrow(/^engine\.as: /);
  });

  it('has a management right that is true or false', () => {
    const caller = { ...hostPrincipal, management: 'false' };
    expect(() => engine.as(caller as never)).toThrow(
      'engine.as: this is not a principal: management takes true or false, got a string',
    );
  });
});
